package dev.outbox.dev.torture;

import dev.outbox.Archive;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.database.Tortured;
import dev.outbox.dev.database.Work;
import dev.outbox.embedded.ParentJvm;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What producers, relays and consumers have in common: the parent's settings and commands, a
 * journal, and where the servers are.
 */
final class Child implements AutoCloseable {
  static final String STARTED = "started";
  static final String PAUSE = "pause";
  static final String PAUSED = "paused";
  static final String GO_ON = "go-on";
  static final String END = "end";

  /** "exhaust 1500": somebody in the process takes all connections for so many milliseconds. */
  static final String EXHAUST = "exhaust";

  /** "long 5000": a transaction stays open for so many milliseconds after it has appended. */
  static final String LONG = "long";

  final ParentJvm parent = ParentJvm.connect();
  final Journal journal = Journal.open(directory(), name());

  /** Whether it makes no trouble of its own. */
  volatile boolean calm;

  Child() throws IOException {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
  }

  String name() {
    return parent.get("name");
  }

  Path directory() {
    return Path.of(parent.get("directory"));
  }

  long seed() {
    return Long.parseLong(parent.get("seed"));
  }

  /** As this process reaches it. */
  Broker broker() {
    return Broker.open(parent, Work.TOPICS);
  }

  /** The database, with a pool of this size. */
  Tortured<?> place(int size) {
    return (Tortured<?>)
        StoreKind.valueOf(parent.get("database"))
            .place(
                Place.address(parent),
                Archive.valueOf(parent.get("archive")),
                size,
                Place.PATIENCE);
  }

  static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
