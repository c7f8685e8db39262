package dev.outbox.dev.bench;

import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import dev.outbox.embedded.ChildJvm;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pod of a service, in a JVM of its own: relays, and clients that append and wake the first relay
 * after each commit.
 */
final class Pod implements AutoCloseable {
  private final ChildJvm jvm;
  private final Ledger<Pod> ledger;

  /**
   * What was done so far.
   *
   * @param drained messages that relays only counted
   */
  record Work(long statements, long cpuNanos, long drained) {
    static Work nothing() {
      return new Work(0, 0, 0);
    }

    Work plus(Work other) {
      return new Work(
          statements + other.statements, cpuNanos + other.cpuNanos, drained + other.drained);
    }

    /** With what was counted in this process. */
    Work plus(WorkCounter counter) {
      return plus(new Work(counter.statements(), 0, 0));
    }

    Work since(Work before) {
      return new Work(
          statements - before.statements, cpuNanos - before.cpuNanos, drained - before.drained);
    }
  }

  /**
   * Returns before it is ready.
   *
   * @param topic where its relays publish to; null: nowhere, as fast as can be
   * @param ledger is told what it commits and publishes
   */
  Pod(
      BenchDatabase<?> database,
      int relays,
      int clients,
      @Nullable KafkaBroker topic,
      Ledger<Pod> ledger) {
    this.ledger = ledger;
    Map<String, String> settings = new HashMap<>(database.settings());
    settings.put("relays", "" + relays);
    settings.put("clients", "" + clients);
    settings.put("bootstrap", topic == null ? "" : topic.address());
    settings.put("topic", topic == null ? "" : topic.name());
    jvm = ChildJvm.startWithDefaults(PodMain.class, settings);
  }

  /** One relay and no client; ready when it returns. */
  static Pod ofRelay(BenchDatabase<?> database, KafkaBroker topic, Ledger<Pod> ledger) {
    Pod pod = new Pod(database, 1, 0, topic, ledger);
    pod.awaitReady();
    return pod;
  }

  void awaitReady() {
    jvm.await(PodMain.READY);
  }

  void send(String command) {
    jvm.send(command);
  }

  /** Waits for the answer to a command; all that was committed and published before is known. */
  Work answer() {
    while (true) {
      String line = jvm.line();
      if (!heard(line)) {
        String[] part = line.split(" ");
        return new Work(Long.parseLong(part[1]), Long.parseLong(part[2]), Long.parseLong(part[3]));
      }
    }
  }

  Work work() {
    send(PodMain.WORK);
    return answer();
  }

  /** Returns whether the line told of what it has committed or published. */
  private boolean heard(String line) {
    String[] part = line.split(" ");
    switch (part[0]) {
      case PodMain.COMMITTED ->
          ledger.committed(UUID.fromString(part[1]), part[2], Long.parseLong(part[3]));
      case PodMain.PUBLISHED ->
          ledger.published(
              this,
              Stream.of(part).skip(3).map(UUID::fromString).toList(),
              Long.parseLong(part[1]),
              Long.parseLong(part[2]));
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Ends it in good order. */
  void end() {
    send(PodMain.END);
    jvm.rest().forEach(this::heard);
  }

  /** By SIGKILL. */
  void kill() {
    jvm.close();
    jvm.rest().forEach(this::heard);
  }

  /** Kills it. */
  @Override
  public void close() {
    jvm.close();
  }
}
