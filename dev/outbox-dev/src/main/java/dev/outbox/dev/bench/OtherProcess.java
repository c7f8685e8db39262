package dev.outbox.dev.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.dev.bench.Stamps.Stamp;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;

/** A relay in a JVM of its own, with the JVM's and the relay's defaults. */
final class OtherProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;

  /** What it did since it started. */
  record Work(long statements, long cpuNanos) {
    static Work nothing() {
      return new Work(0, 0);
    }

    /** With what was counted in this process. */
    Work plus(WorkCounter counter) {
      return new Work(statements + counter.statements(), cpuNanos);
    }

    Work since(Work before) {
      return new Work(statements - before.statements, cpuNanos - before.cpuNanos);
    }
  }

  /**
   * Ready when it returns.
   *
   * @param keep as {@link dev.outbox.relay.Relay.Builder#keep}
   */
  OtherProcess(BenchDatabase database, KafkaTopic topic, Duration keep, boolean counted)
      throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                RelayMain.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    Properties properties = new Properties();
    properties.putAll(database.address());
    properties.setProperty("bootstrap", topic.bootstrap());
    properties.setProperty("topic", topic.name());
    properties.setProperty("keep", "" + keep);
    properties.setProperty("count", "" + counted);
    StringWriter text = new StringWriter();
    properties.store(text, null);
    try {
      say(text.toString());
      read(RelayMain.STARTED);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private void say(String text) throws IOException {
    process.getOutputStream().write((text + "\n").getBytes(UTF_8));
    process.getOutputStream().flush();
  }

  /** What it says before a line. */
  private List<String> read(String last) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String line = out.readLine(); !last.equals(line); line = out.readLine()) {
      if (line == null) {
        throw new IOException("the relay in another process ended");
      }
      lines.add(line);
    }
    return lines;
  }

  Map<UUID, Stamp> stamps() throws IOException {
    say(RelayMain.STAMPS);
    Map<UUID, Stamp> stamps = new HashMap<>();
    for (String line : read(RelayMain.END)) {
      String[] part = line.split(" ");
      stamps.put(
          UUID.fromString(part[0]), new Stamp(Long.parseLong(part[1]), Long.parseLong(part[2])));
    }
    return stamps;
  }

  Work work() throws IOException {
    say(RelayMain.WORK);
    String[] part = read(RelayMain.END).get(0).split(" ");
    return new Work(Long.parseLong(part[0]), Long.parseLong(part[1]));
  }

  /** Kills it: it holds nothing that must be given back. */
  @Override
  public void close() {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
