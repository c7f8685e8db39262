package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A server in a process of its own, which does not outlive this JVM: a small shell script watches
 * for the JVM's end, so that this holds after {@code Runtime.halt} and SIGKILL too. Windows has no
 * such shell; there a JVM that was killed leaves the server behind, and signals end it.
 */
final class ServerProcess {
  private final String name;
  private final Path directory;
  private final Process process;
  private final ProcessHandle server;
  private final long logBefore;

  private ServerProcess(
      String name, Path directory, Process process, ProcessHandle server, long logBefore) {
    this.name = name;
    this.directory = directory;
    this.process = process;
    this.server = server;
    this.logBefore = logBefore;
  }

  /**
   * Starts a server.
   *
   * @param name for errors
   * @param directory for {@code server.log}; deleted when this JVM ends before the server
   * @param lastSignal what the server gets then
   */
  static ServerProcess start(
      String name,
      Path directory,
      String lastSignal,
      List<String> command,
      Map<String, String> environment) {
    List<String> line = new ArrayList<>();
    if (!Machine.WINDOWS) {
      line.addAll(List.of("sh", "-c", guard(), "sh", directory.toString(), lastSignal));
    }
    line.addAll(command);
    Path log = log(directory);
    ProcessBuilder builder = new ProcessBuilder(line).directory(directory.toFile());
    builder.environment().putAll(environment);
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    if (Machine.WINDOWS) {
      builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    }
    try {
      long logBefore = Files.exists(log) ? Files.size(log) : 0;
      Process process = builder.start();
      ProcessHandle server = Machine.WINDOWS ? process.toHandle() : readHandle(process);
      return new ServerProcess(name, directory, process, server, logBefore);
    } catch (IOException e) {
      throw new UncheckedIOException(name + " could not be started with " + line.get(0), e);
    }
  }

  private static ProcessHandle readHandle(Process process) throws IOException {
    // Not closed: the stream belongs to the process.
    String pid =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
    if (pid == null) {
      throw new IOException("the shell that guards the server ended at once");
    }
    // A server that is gone already is noticed by whoever waits for it to be ready.
    return ProcessHandle.of(Long.parseLong(pid)).orElseGet(process::toHandle);
  }

  private static String guard() {
    try (InputStream in = ServerProcess.class.getResourceAsStream("guard.sh")) {
      if (in == null) {
        throw new IllegalStateException("guard.sh is missing from outbox-embedded's jar");
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path log(Path directory) {
    return directory.resolve("server.log");
  }

  ProcessHandle handle() {
    return server;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Whether it has written this since its start. */
  boolean hasSaid(String text) {
    try (InputStream in = Files.newInputStream(log(directory))) {
      in.skipNBytes(logBefore);
      return new String(in.readAllBytes(), UTF_8).contains(text);
    } catch (IOException e) {
      return false; // not there yet
    }
  }

  /** Sends a signal, named as {@code INT}. Does nothing when the server is gone. */
  void signal(String signal) {
    if (Machine.WINDOWS) {
      process.destroyForcibly();
      return;
    }
    try {
      process.getOutputStream().write((signal + "\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      if (process.isAlive()) {
        throw new UncheckedIOException(name + " could not be sent " + signal, e);
      }
    }
  }

  /** SIGSTOP; on Linux none of its threads runs any more when this returns. */
  void pause() {
    signal("STOP");
    Path threads = Path.of("/proc", Long.toString(server.pid()), "task");
    waitFor(
        Duration.ofSeconds(30),
        () -> !Files.exists(threads) || allStopped(threads),
        "did not stop after SIGSTOP");
  }

  private static boolean allStopped(Path threads) {
    try (Stream<Path> all = Files.list(threads)) {
      return all.map(thread -> thread.resolve("stat")).allMatch(ServerProcess::isStopped);
    } catch (IOException | UncheckedIOException e) {
      return false; // a thread ended meanwhile
    }
  }

  private static boolean isStopped(Path stat) {
    try {
      return state(stat) == 'T';
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A zombie that nobody reaps counts as gone: it has given back its memory. */
  private static boolean isGone(ProcessHandle child) {
    if (!child.isAlive()) {
      return true;
    }
    Path stat = Path.of("/proc", Long.toString(child.pid()), "stat");
    try {
      return state(stat) == 'Z';
    } catch (IOException e) { // gone, or no Linux: there it has no executable any more
      return child.info().command().isEmpty();
    }
  }

  private static char state(Path stat) throws IOException {
    String text = Files.readString(stat, ISO_8859_1);
    return text.charAt(text.lastIndexOf(')') + 2);
  }

  /**
   * Sends SIGKILL to the server and its children, and waits until all are gone. It is stopped
   * before, so that it starts no child that nobody knows of: one that still uses PostgreSQL's
   * shared memory keeps the next server from starting.
   */
  void kill() {
    if (!Machine.WINDOWS) {
      pause();
    }
    List<ProcessHandle> children = server.descendants().toList();
    signal("KILL");
    int unused = exitCode(Duration.ofSeconds(30));
    children.forEach(ProcessHandle::destroyForcibly);
    waitFor(
        Duration.ofSeconds(30),
        () -> children.stream().allMatch(ServerProcess::isGone),
        name + "'s children did not end after SIGKILL");
  }

  /** Asks for the end by a signal; SIGKILL when the server takes longer than the time given. */
  void stop(String signal, Duration patience) {
    signal(signal);
    signal("CONT"); // it may be paused
    if (!ends(patience)) {
      kill();
    }
  }

  /** Waits until the condition holds, with what the server said last when it does not. */
  void awaitReady(Duration patience, BooleanSupplier ready) {
    waitFor(patience, () -> ready.getAsBoolean() || !isAlive(), "is not ready");
    if (!isAlive()) {
      throw new IllegalStateException(
          "%s ended with code %s while starting; it said:%n%s"
              .formatted(name, process.exitValue(), tail()));
    }
  }

  /** Waits until it ends by itself, with what it said last when it does not. */
  int exitCode(Duration patience) {
    if (!ends(patience)) {
      throw new IllegalStateException(
          "%s did not end within %s; it said:%n%s".formatted(name, patience, tail()));
    }
    return process.exitValue();
  }

  private boolean ends(Duration patience) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true; // a server must not be left running because its user is impatient
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void waitFor(Duration patience, BooleanSupplier condition, String problem) {
    long end = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "%s: %s after %s; it said:%n%s".formatted(name, problem, patience, tail()));
      }
      LockSupport.parkNanos(10_000_000);
    }
  }

  private String tail() {
    try {
      List<String> lines = Files.readAllLines(log(directory), UTF_8);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
    } catch (IOException e) {
      return "(server.log cannot be read: " + e.getMessage() + ")";
    }
  }
}
