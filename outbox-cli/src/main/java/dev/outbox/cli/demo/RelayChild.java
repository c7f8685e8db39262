package dev.outbox.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.cli.DatabaseOptions;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** A relay in a JVM of its own, so that it can be killed. It ends when this JVM does. */
final class RelayChild implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(25);

  private final String name;
  private final Path log;
  private final Process process;

  private RelayChild(String name, Path log, Process process) {
    this.name = name;
    this.log = log;
    this.process = process;
  }

  /**
   * Starts the JVM, and does not wait for the relay.
   *
   * @param properties as in a relay's file; they go through standard input, which nobody else sees
   * @param password in the child's environment
   */
  static RelayChild start(String name, Path logs, Properties properties, String password) {
    Path log = logs.resolve("relay-" + name + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                DemoRelayCommand.NAME)
            .redirectError(log.toFile());
    builder.environment().put(DatabaseOptions.PASSWORD_VARIABLE, password);
    try {
      RelayChild child = new RelayChild(name, log, builder.start());
      StringWriter text = new StringWriter();
      properties.store(text, null);
      child.say(text + "\n");
      return child;
    } catch (IOException e) {
      throw new Failure("relay " + name + " could not be started: " + e.getMessage(), e);
    }
  }

  private void say(String text) throws IOException {
    process.getOutputStream().write(text.getBytes(UTF_8));
    process.getOutputStream().flush();
  }

  /** Waits until it runs. */
  void awaitStarted() {
    try {
      // Not closed: the stream belongs to the process.
      String line =
          new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
      if (!DemoRelayCommand.STARTED.equals(line)) {
        throw new Failure("relay %s did not start; it said: %s".formatted(name, tail()));
      }
    } catch (IOException e) {
      throw new Failure("relay " + name + " did not start; it said: " + tail(), e);
    }
  }

  private String tail() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join("; ", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    } catch (IOException e) {
      return "(its log cannot be read)";
    }
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Asks for the end, and waits for it. */
  void stop() throws InterruptedException {
    try {
      say(DemoRelayCommand.STOP + "\n");
    } catch (IOException e) {
      throw new Failure("relay %s ended by itself; it said: %s".formatted(name, tail()), e);
    }
    if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
      kill();
      throw new Failure("relay %s did not stop within %s".formatted(name, PATIENCE));
    }
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
