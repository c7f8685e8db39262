package dev.outbox.dev.bench;

import java.util.concurrent.atomic.LongAdder;

/** Is told what clients do, by what watches their connections. Safe for use by many threads. */
public final class WorkCounter {
  private final LongAdder statements = new LongAdder();
  private final LongAdder roundTrips = new LongAdder();

  /** So many statements reach the server. */
  void statements(int count) {
    statements.add(count);
  }

  /** A client waits for the server. */
  void roundTrip() {
    roundTrips.increment();
  }

  public long statements() {
    return statements.sum();
  }

  public long roundTrips() {
    return roundTrips.sum();
  }
}
