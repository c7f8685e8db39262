package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.HoldingRules.Load;
import java.time.Duration;
import java.util.function.LongSupplier;

/** How busy a relay is, by what its claims bring. Not safe for use by many threads. */
final class RelayLoad {

  /** How long a relay has little to do before it calls itself calm. */
  private static final Duration CALM_AFTER = Duration.ofSeconds(10);

  /** How long all claims come back full before it calls itself busy. */
  private static final Duration BUSY_AFTER = Duration.ofMillis(100);

  private final LongSupplier clock;
  private long messages;
  private long askedAt;
  private long notCalmAt;
  private boolean full;
  private long fullSince;

  RelayLoad(LongSupplier clock) {
    this.clock = clock;
    askedAt = clock.getAsLong();
    notCalmAt = askedAt - CALM_AFTER.toNanos();
  }

  /**
   * A claim has brought so many messages.
   *
   * @param most as many as it may have brought
   */
  void claimed(int brought, int most) {
    messages += brought;
    long now = clock.getAsLong();
    boolean isFull = brought > most / 2;
    fullSince = isFull && full ? fullSince : now;
    full = isFull;
  }

  /**
   * The load since this was asked last.
   *
   * @param most of a claim
   */
  Load now(int most) {
    long now = clock.getAsLong();
    double seconds = Math.max(1, (now - askedAt) / 1e9);
    if (messages / seconds >= most) {
      notCalmAt = now;
    }
    messages = 0;
    askedAt = now;
    if (full && now - fullSince >= BUSY_AFTER.toNanos()) {
      notCalmAt = now;
      return Load.BUSY;
    }
    return now - notCalmAt < CALM_AFTER.toNanos() ? Load.WORKING : Load.CALM;
  }
}
