package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.embedded.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** A relay in a JVM of its own, with the JVM's and the relay's defaults. */
final class OtherProcess implements AutoCloseable {
  private final ChildJvm process;

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
  OtherProcess(BenchDatabase database, KafkaTopic topic, Duration keep) {
    Map<String, String> settings = new HashMap<>(database.address());
    settings.put("bootstrap", topic.bootstrap());
    settings.put("topic", topic.name());
    settings.put("keep", "" + keep);
    process = ChildJvm.startWithDefaults(RelayMain.class, settings);
    try {
      process.await(RelayMain.STARTED);
    } catch (IllegalStateException e) {
      close();
      throw e;
    }
  }

  private List<String[]> ask(String command) {
    process.send(command);
    List<String[]> lines = new ArrayList<>();
    for (String line = process.line(); !line.equals(RelayMain.END); line = process.line()) {
      lines.add(line.split(" "));
    }
    return lines;
  }

  Map<UUID, Stamp> stamps() {
    Map<UUID, Stamp> stamps = new HashMap<>();
    for (String[] part : ask(RelayMain.STAMPS)) {
      stamps.put(
          UUID.fromString(part[0]), new Stamp(Long.parseLong(part[1]), Long.parseLong(part[2])));
    }
    return stamps;
  }

  Work work() {
    String[] part = ask(RelayMain.WORK).get(0);
    return new Work(Long.parseLong(part[0]), Long.parseLong(part[1]));
  }

  /** Kills it: it holds nothing that must be given back. */
  @Override
  public void close() {
    process.close();
  }
}
