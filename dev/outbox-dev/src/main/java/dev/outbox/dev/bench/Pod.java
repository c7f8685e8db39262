package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchClient.Woken;
import dev.outbox.dev.bench.Fleet.Shape;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import dev.outbox.embedded.ChildJvm;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A pod of a service, in a JVM of its own: relays, and clients that append. */
final class Pod implements AutoCloseable {
  private final ChildJvm jvm;
  private final Ledger<Pod> ledger;

  /** What was done so far. */
  record Usage(long statements, long cpuNanos) {
    static final Usage NOTHING = new Usage(0, 0);

    Usage plus(Usage other) {
      return new Usage(statements + other.statements, cpuNanos + other.cpuNanos);
    }

    Usage since(Usage before) {
      return new Usage(statements - before.statements, cpuNanos - before.cpuNanos);
    }
  }

  /**
   * Returns before it is ready.
   *
   * @param ledger is told what it commits and publishes
   */
  Pod(
      BenchDatabase database,
      Shape shape,
      Woken woken,
      @Nullable KafkaBroker topic,
      Ledger<Pod> ledger) {
    this.ledger = ledger;
    Map<String, String> settings = new HashMap<>(database.settings());
    settings.put("relays", "" + shape.relays());
    settings.put("clients", "" + shape.clients());
    settings.put("woken", woken.name());
    settings.put("bootstrap", topic == null ? "" : topic.address());
    settings.put("topic", topic == null ? "" : topic.name());
    jvm = ChildJvm.startWithDefaults(PodMain.class, settings);
  }

  void awaitReady() {
    jvm.await(PodMain.READY);
  }

  void send(String command) {
    jvm.send(command);
  }

  /** Waits for the answer to a command; all that was committed and published before is known. */
  Usage answer() {
    while (true) {
      String line = jvm.line();
      if (!heard(line)) {
        String[] part = line.split(" ");
        return new Usage(Long.parseLong(part[1]), Long.parseLong(part[2]));
      }
    }
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

  @Override
  public void close() {
    jvm.close();
  }
}
