package dev.outbox.store.postgres.torture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A process of its own that can be stopped, continued and killed. It does not outlive this JVM: it
 * ends when its standard input does, and who stopped it continues it when this JVM is gone.
 */
final class ChildJvm implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 60;
  private static final String END = "";

  private final Process process;
  private final Path errors;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private Process stopper;

  private ChildJvm(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
    Thread reader = new Thread(this::read, "child-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  /** Skips the test where processes cannot be stopped. */
  static void assumeSignals() {
    Assumptions.assumeFalse(
        System.getProperty("os.name").startsWith("Windows"),
        "Windows has no SIGSTOP, so no client can be stopped here");
  }

  /**
   * @param config what the child's {@link Parent} reads; not by arguments, because of the password
   */
  static ChildJvm start(Class<?> main, Map<String, String> config, String... jvmOptions) {
    try {
      Path errors = Files.createTempFile("outbox-child-", ".log");
      List<String> command = new java.util.ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of(jvmOptions));
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
      Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
      ChildJvm child = new ChildJvm(process, errors);
      config.forEach((name, value) -> child.send(name + "=" + value));
      child.send("");
      return child;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a line; does nothing when the process is gone. */
  void send(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      if (process.isAlive()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The next line that the child writes, or the end of the test with what it said. */
  String line() {
    try {
      String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertThat(line).as("a line of the child within a minute; it said: %s", said()).isNotNull();
      assertThat(line).as("the child's next line, not its end; it said: %s", said()).isNotEmpty();
      return line;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** SIGSTOP; returns when it was sent. */
  void stop() {
    try {
      String script = "kill -STOP $1 && echo stopped; read line; kill -CONT $1";
      stopper = new ProcessBuilder("sh", "-c", script, "sh", Long.toString(pid())).start();
      int first = stopper.getInputStream().read();
      assertThat(first).as("SIGSTOP was sent to %d", pid()).isEqualTo('s');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGCONT, if it is stopped; returns when it was sent. */
  void go() {
    Process ending = stopper;
    stopper = null;
    if (ending != null) {
      try {
        ending.getOutputStream().close();
        ending.waitFor();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Waits for the end that the child comes to by itself. */
  int exitCode() {
    try {
      assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .as("the child ended within a minute; it said: %s", said())
          .isTrue();
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What it wrote to its log. */
  String said() {
    try {
      return Files.readString(errors);
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
      Files.deleteIfExists(errors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
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
