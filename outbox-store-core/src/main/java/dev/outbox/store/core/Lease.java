package dev.outbox.store.core;

import dev.outbox.store.core.Statements.Held;
import java.time.Duration;

/**
 * A bucket that a claim holds.
 *
 * @param bucket 0 to 63
 * @param token the fencing token: grows each time the bucket changes hands
 * @param mark where reading PENDING messages begins
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
    Mark mark,
    boolean scheduled,
    boolean blocked,
    boolean single,
    Duration left,
    int batches,
    long since) {

  Lease with(Mark newMark) {
    return new Lease(bucket, token, newMark, scheduled, blocked, single, left, batches, since);
  }

  /** As it goes on after a batch was settled. */
  Lease goesOn(Held now) {
    return new Lease(
        bucket,
        token,
        mark.afterSettle(now.transaction(), now.history()),
        now.scheduled(),
        now.blocked(),
        single,
        now.left(),
        batches + 1,
        since);
  }
}
