package dev.outbox.store.postgres.torture;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.postgres.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Relay processes that are killed, replaced, stopped and continued at random. */
final class Fleet implements AutoCloseable {
  private static final int SIZE = 4;

  private final DatabaseServer server;
  private final Database database;
  private final Journal journal;
  private final Duration lease;
  private final Random random;
  private final List<Ship> ships = new ArrayList<>();
  private int launched;

  private static final class Ship {
    ChildJvm jvm;
    boolean stopped;
    long changeAt;
  }

  Fleet(DatabaseServer server, Database database, Journal journal, Duration lease, long seed) {
    this.server = server;
    this.database = database;
    this.journal = journal;
    this.lease = lease;
    this.random = new Random(seed);
  }

  void launch() {
    for (int i = 0; i < SIZE; i++) {
      Ship ship = new Ship();
      ship.jvm = start();
      ships.add(ship);
    }
    ships.forEach(ship -> awaitStart(ship.jvm));
    ships.forEach(this::sail);
  }

  private ChildJvm start() {
    Map<String, String> config = Parent.config(server, database);
    config.put("process", "relay-" + launched++);
    config.put("lease", lease.toString());
    config.put("seed", Long.toString(random.nextLong()));
    return ChildJvm.start(TortureRelay.class, config);
  }

  private static void awaitStart(ChildJvm jvm) {
    String line = jvm.line();
    if (!line.equals("started")) {
      throw new IllegalStateException("the relay said " + line + "\n" + jvm.said());
    }
  }

  /** Until something happens to it: between next to nothing and two leases. */
  private void sail(Ship ship) {
    ship.changeAt = System.nanoTime() + (long) (random.nextDouble() * lease.toNanos());
  }

  /** Does what is due. */
  void trouble() {
    for (Ship ship : ships) {
      if (ship.changeAt - System.nanoTime() > 0) {
        continue;
      }
      if (ship.stopped) {
        ship.jvm.go();
        ship.stopped = false;
        sail(ship);
      } else if (random.nextInt(5) == 0) {
        journal.fault("SIGKILL");
        ship.jvm.close();
        ship.jvm = start();
        sail(ship);
      } else {
        journal.fault("SIGSTOP");
        ship.jvm.stop();
        ship.stopped = true;
        // Longer than the lease.
        long longer = (long) (lease.toNanos() * (1.1 + random.nextDouble()));
        ship.changeAt = System.nanoTime() + longer;
      }
    }
  }

  /** All go on, and their broker has no more trouble. */
  void calm() {
    for (Ship ship : ships) {
      ship.jvm.go();
      ship.stopped = false;
      ship.jvm.send("calm");
    }
  }

  /** Ends them in good order; returns what those that did not end so said. */
  List<String> end() {
    ships.forEach(ship -> ship.jvm.send("end"));
    return ships.stream()
        .map(ship -> ship.jvm)
        .filter(jvm -> jvm.exitCode() != 0)
        .map(ChildJvm::said)
        .toList();
  }

  @Override
  public void close() {
    ships.forEach(ship -> ship.jvm.close());
  }
}
