package dev.outbox.store.jdbc;

/**
 * A bucket that a claim holds.
 *
 * @param bucket 0 to 63
 * @param token the fencing token: grows each time the bucket changes hands
 * @param lowWater nothing below this sequence is PENDING
 * @param scheduled whether SCHEDULED messages are due
 * @param blocked whether blocked keys are due
 * @param single whether its messages are handed out one at a time, because its last holders did not
 *     come back (S6)
 */
public record Lease(
    int bucket, long token, long lowWater, boolean scheduled, boolean blocked, boolean single) {}
