package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A program of ours in a process of its own, on this JVM's class path, that can be stopped,
 * continued and killed. Its other end is {@link ParentJvm}. It does not outlive this JVM: it ends
 * when its standard input does, and who stopped it continues it when this JVM is gone.
 *
 * <p>Not for use by several threads at once.
 */
public final class ChildJvm implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final String END = "";
  private static final int HEAP_MIB = 256;

  private final Process process;
  private final Path log;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private @Nullable Process stopper;

  private ChildJvm(Process process, Path log) {
    this.process = process;
    this.log = log;
    Thread reader = new Thread(this::read, "child-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  /** Whether processes can be stopped here; Windows has no SIGSTOP. */
  public static boolean canStop() {
    return !Machine.WINDOWS;
  }

  /** {@link #start(Class, Map, Map, Path)} with this process's environment and a log of its own. */
  public static ChildJvm start(Class<?> main, Map<String, String> settings) {
    return start(main, settings, HEAP_MIB);
  }

  /** As {@link #start(Class, Map)}, with so much heap. */
  public static ChildJvm start(Class<?> main, Map<String, String> settings, int heapMib) {
    return start(main, settings, Map.of(), log(), small(heapMib));
  }

  /** As {@link #start(Class, Map)}, with the JVM's own defaults: for what is to be fast. */
  public static ChildJvm startWithDefaults(Class<?> main, Map<String, String> settings) {
    return start(main, settings, Map.of(), log(), List.of());
  }

  private static List<String> small(int heapMib) {
    return List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx" + heapMib + "m");
  }

  private static Path log() {
    try {
      Path log = Files.createTempFile("outbox-child-", ".log");
      log.toFile().deleteOnExit();
      return log;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Starts it; returns before it runs.
   *
   * @param settings what its {@link ParentJvm} reads; not by arguments, because of passwords
   * @param environment beside this process's
   * @param log for what it writes to standard error
   */
  public static ChildJvm start(
      Class<?> main, Map<String, String> settings, Map<String, String> environment, Path log) {
    return start(main, settings, environment, log, small(HEAP_MIB));
  }

  private static ChildJvm start(
      Class<?> main,
      Map<String, String> settings,
      Map<String, String> environment,
      Path log,
      List<String> options) {
    List<String> command = new ArrayList<>();
    command.add(Machine.jdk("java"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
      builder.environment().putAll(environment);
      ChildJvm child = new ChildJvm(builder.start(), log);
      settings.forEach((name, value) -> child.send(name + "=" + value));
      child.send("");
      return child;
    } catch (IOException e) {
      throw new UncheckedIOException(main.getSimpleName() + " could not be started", e);
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Whether it was stopped, and not continued yet. */
  public boolean isStopped() {
    return stopper != null;
  }

  /** Sends a line; does nothing when the process is gone. */
  public void send(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      if (process.isAlive()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /**
   * Waits for the next line that the child writes.
   *
   * @throws IllegalStateException when there is none within two minutes, or the child has ended,
   *     with what it said
   */
  public String line() {
    String line = next();
    if (line.equals(END)) {
      throw new IllegalStateException("the child has ended; it said: " + said());
    }
    return line;
  }

  private String next() {
    try {
      String line = lines.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (line == null) {
        throw new IllegalStateException(
            "the child wrote nothing for %s; it said: %s".formatted(PATIENCE, said()));
      }
      return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Waits until the child has ended; the lines that were not read before. */
  public List<String> rest() {
    List<String> rest = new ArrayList<>();
    for (String line = next(); !line.equals(END); line = next()) {
      rest.add(line);
    }
    return rest;
  }

  /** Waits until the child has written this line; others before it are passed. */
  public void await(String line) {
    while (!line().equals(line)) {}
  }

  /** SIGSTOP; returns when it was sent. */
  public void stop() {
    try {
      String script = "kill -STOP $1 && echo stopped; read line; kill -CONT $1";
      Process begun = new ProcessBuilder("sh", "-c", script, "sh", Long.toString(pid())).start();
      stopper = begun;
      if (begun.getInputStream().read() != 's') {
        throw new IllegalStateException("SIGSTOP could not be sent to " + pid());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGCONT, if it is stopped; returns when it was sent. */
  public void go() {
    Process ending = stopper;
    stopper = null;
    if (ending != null) {
      try {
        ending.getOutputStream().close();
        ending.waitFor();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * Waits for the end that the child comes to by itself.
   *
   * @throws IllegalStateException when it has not ended after two minutes
   */
  public int exitCode() {
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "the child did not end within %s; it said: %s".formatted(PATIENCE, said()));
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** What it wrote to its log. */
  public String said() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return "(nothing: " + e.getMessage() + ")";
    }
  }

  /** SIGKILL; returns when it is gone. */
  @Override
  public void close() {
    process.destroyForcibly();
    go();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void read() {
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        lines.add(line);
      }
    } catch (IOException e) {
      // killed
    }
    lines.add(END);
  }
}
