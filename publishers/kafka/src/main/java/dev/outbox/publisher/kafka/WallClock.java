package dev.outbox.publisher.kafka;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Counts how often the machine's wall clock went back. Kafka's clients time their pauses and limits
 * by that clock. After a step back, a client that has begun a pause neither connects again nor asks
 * for metadata, and nothing expires, until the clock has caught up. So clients are replaced after
 * such a step. Safe for use by many threads.
 */
final class WallClock {
  /** What a clock may lose between two looks, in milliseconds, because it is being slowed down. */
  static final long TOLERANCE = 1_000;

  private static final long AT_ONCE = TimeUnit.MILLISECONDS.toNanos(100);

  private final LongSupplier lead;
  private long last;
  private int steps;

  /**
   * Begins now.
   *
   * @param lead by how many milliseconds it is ahead of a clock that never goes back
   */
  WallClock(LongSupplier lead) {
    this.lead = lead;
    this.last = lead.getAsLong();
  }

  /** That of this machine. */
  static WallClock system() {
    return new WallClock(WallClock::leadNow);
  }

  private static long leadNow() {
    long before;
    long wall;
    do { // a pause between the two would look like a step
      before = System.nanoTime();
      wall = System.currentTimeMillis();
    } while (System.nanoTime() - before > AT_ONCE);
    return wall - TimeUnit.NANOSECONDS.toMillis(before);
  }

  /** How many steps back have been seen; a step is seen by the first look after it. */
  synchronized int stepsBack() {
    long now = lead.getAsLong();
    if (last - now > TOLERANCE) {
      steps++;
    }
    last = now;
    return steps;
  }
}
