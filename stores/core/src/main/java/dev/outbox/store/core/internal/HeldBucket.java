package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.AppendReport.Candidate;
import dev.outbox.store.core.internal.Row.Claimable;
import java.util.List;

/**
 * A bucket that a relay holds and that no worker has.
 *
 * @param endsAt it lasts until then at least
 * @param servedAt when its bucket had messages last
 * @param handed messages that wait with it and that nobody has read, in sequence order
 */
record HeldBucket(Lease lease, long endsAt, long servedAt, List<Claimable> handed) {

  /**
   * @param asked before the database said how long it lasts, by the clock
   */
  static HeldBucket until(long asked, Lease lease, long servedAt) {
    return new HeldBucket(lease, asked + lease.left().toNanos(), servedAt, List.of());
  }

  int bucket() {
    return lease.bucket();
  }

  boolean isHanded() {
    return !handed.isEmpty();
  }

  /** This bucket with what is known of its lease now. */
  HeldBucket as(Lease newLease, long newEnd) {
    return new HeldBucket(newLease, newEnd, servedAt, handed);
  }

  /** This bucket after a look, which has read what was handed over. */
  HeldBucket with(Lease newLease) {
    return new HeldBucket(newLease, endsAt, servedAt, List.of());
  }

  /**
   * This bucket with messages beside it, if they may be published under its lease and none are
   * there yet. By the token it is the lease that their append saw, so nobody else has read them.
   * They are above all that workers here have read, so none of these has read them either.
   */
  HeldBucket and(List<Candidate> messages, long read) {
    Candidate first = messages.get(0);
    return handed.isEmpty()
            && !lease.single()
            && first.token() == lease.token()
            && first.row().sequence() > read
        ? new HeldBucket(lease, endsAt, servedAt, messages.stream().map(Candidate::row).toList())
        : this;
  }
}
