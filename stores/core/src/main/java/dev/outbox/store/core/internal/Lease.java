package dev.outbox.store.core.internal;

import java.time.Duration;

/**
 * A bucket that a claim holds.
 *
 * @param bucket 0 to 63
 * @param token the fencing token: grows each time the bucket changes hands
 * @param state what the database wants to know of the bucket while it is held, and stores when it
 *     is released; the database alone looks into it
 * @param scheduled whether SCHEDULED messages are due
 * @param blocked whether blocked keys are due
 * @param single whether its messages are handed out one at a time, because its last holders did not
 *     come back (S6)
 * @param left until it ends, as the database said last
 * @param batches how many batches were settled under it
 * @param since when it began, by {@link System#nanoTime}
 */
public record Lease(
    int bucket,
    long token,
    Object state,
    boolean scheduled,
    boolean blocked,
    boolean single,
    Duration left,
    int batches,
    long since) {

  /** The state of a database that has none. */
  public static final Object STATELESS = new Object();

  public static Lease begins(
      int bucket,
      long token,
      Object state,
      boolean scheduled,
      boolean blocked,
      boolean single,
      Duration lease) {
    return new Lease(bucket, token, state, scheduled, blocked, single, lease, 0, System.nanoTime());
  }

  Lease lasts(Duration newLeft) {
    return new Lease(bucket, token, state, scheduled, blocked, single, newLeft, batches, since);
  }

  public Lease with(Object newState) {
    return new Lease(bucket, token, newState, scheduled, blocked, single, left, batches, since);
  }

  /**
   * As it goes on after a batch, when its bucket is locked again.
   *
   * @param newLeft may be negative
   */
  public Lease goesOn(Duration newLeft, boolean scheduledNow, boolean blockedNow, Object newState) {
    return new Lease(
        bucket, token, newState, scheduledNow, blockedNow, single, newLeft, batches + 1, since);
  }
}
