package dev.outbox.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program as its users start it, in a process of its own, which does not outlive this JVM: for
 * tests of what is packaged. A program of ours that talks to its test is a {@link ChildJvm}.
 *
 * <p>Not for use by several threads at once.
 */
public final class ChildProgram implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Path directory;
  private final ServerProcess process;

  private ChildProgram(Path directory, ServerProcess process) {
    this.directory = directory;
    this.process = process;
  }

  /**
   * Starts it; returns before it is ready.
   *
   * @param name for errors
   * @param command the program and its arguments; it runs in an empty folder
   */
  public static ChildProgram start(String name, List<String> command) {
    try {
      Path directory = Files.createTempDirectory("outbox-program-").toRealPath();
      return new ChildProgram(
          directory, ServerProcess.start(name, directory, "KILL", command, Map.of()));
    } catch (IOException e) {
      throw new UncheckedIOException("no folder for " + name, e);
    }
  }

  /** What it has written so far, to standard output and standard error. */
  public String said() {
    try {
      return Files.readString(ServerProcess.log(directory));
    } catch (IOException e) {
      return "(nothing: " + e.getMessage() + ")";
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Asks it to end, by SIGTERM; returns when that was sent. Windows knows no such way. */
  public void terminate() {
    process.signal("TERM");
  }

  /**
   * Waits for the end that it comes to by itself.
   *
   * @return its exit code; 143 for most programs that end because of SIGTERM
   * @throws IllegalStateException when it has not ended after two minutes, with what it said
   */
  public int exitCode() {
    return process.exitCode(PATIENCE);
  }

  /** SIGKILL, if it still runs; what it said is gone. */
  @Override
  public void close() {
    try {
      process.kill();
    } finally {
      Directories.delete(directory);
    }
  }
}
