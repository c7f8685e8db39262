package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Cost.ClientWork;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Is told what clients do, by what watches their connections. Safe for use by many threads. */
public final class WorkCounter {
  private final Map<String, LongAdder> statements = new ConcurrentHashMap<>();
  private final LongAdder roundTrips = new LongAdder();

  /**
   * A statement reaches the server.
   *
   * @param name what it does, in a word
   */
  void statement(String name) {
    statements.computeIfAbsent(name, n -> new LongAdder()).increment();
  }

  /** A client waits for the server. */
  void roundTrip() {
    roundTrips.increment();
  }

  /** Statements of all names so far. */
  public long statements() {
    return statements.values().stream().mapToLong(LongAdder::sum).sum();
  }

  public long roundTrips() {
    return roundTrips.sum();
  }

  ClientWork counted() {
    Map<String, Long> counts = new TreeMap<>();
    statements.forEach((name, count) -> counts.put(name, count.sum()));
    return new ClientWork(counts, roundTrips());
  }
}
