package dev.outbox.relay;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A claim, and how long it lasts at least: counted on this machine from before the store was asked.
 * The store's clock decides (C4); this only tells when to renew and when to stop trying. For one
 * thread, so that renew and settle never run at once.
 */
final class TimedClaim {
  private static final int RENEWALS = 3;
  private static final int RETRIES = 10;

  private final Claim claim;
  private final long length;
  private final LongSupplier clock;
  private final Set<Long> lost = new HashSet<>();
  private long until;
  private long renewAt;

  /**
   * @param before the clock's time before the claim was asked for
   */
  TimedClaim(Claim claim, Duration length, long before, LongSupplier clock) {
    this.clock = clock;
    this.claim = claim;
    this.length = length.toNanos();
    begin(before);
  }

  private void begin(long before) {
    until = before + length;
    renewAt = before + length / RENEWALS;
  }

  Claim claim() {
    return claim;
  }

  /** Nanoseconds that the lease lasts for sure; negative when it may be over. */
  long left() {
    return until - clock.getAsLong();
  }

  /** Nanoseconds until it should be renewed. */
  long untilRenewal() {
    return renewAt - clock.getAsLong();
  }

  /** Sequences that a renewal did not bring back. */
  Set<Long> lost() {
    return lost;
  }

  /** Renews; when the store throws, the next try is soon. */
  void renew() {
    long before = clock.getAsLong();
    renewAt = before + length / RENEWALS / RETRIES;
    Set<Long> ours = claim.renew(Duration.ofNanos(length));
    begin(before);
    for (StoredMessage message : claim.messages()) {
      if (!ours.contains(message.sequence())) {
        lost.add(message.sequence());
      }
    }
  }
}
