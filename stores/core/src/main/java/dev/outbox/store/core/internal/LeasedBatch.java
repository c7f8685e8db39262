package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.BatchReader.Batch;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a worker has: messages, and the leases of their buckets. */
abstract class LeasedBatch implements Claim {
  final UUID claimId;
  final Batch batch;
  private final List<StoredMessage> messages;
  private Duration lease;
  private boolean over;

  LeasedBatch(UUID claimId, Batch batch, Duration lease) {
    this.claimId = claimId;
    this.batch = batch;
    this.lease = lease;
    messages = batch.rows().stream().map(Claimable::message).toList();
  }

  /** Settles, and returns the buckets that were still ours. */
  abstract Set<Integer> settled(DecidedMessages decided);

  /** Prolongs the leases, and returns the buckets that are still ours. */
  abstract Set<Integer> renewed();

  /** How long it is to last from its last renewal on. */
  final Duration lease() {
    return lease;
  }

  @Override
  public final List<StoredMessage> messages() {
    return messages;
  }

  @Override
  public final boolean pollAgain() {
    return batch.pollAgain();
  }

  @Override
  public final Set<Long> renew(Duration newLease) {
    lease = newLease;
    return over || isEmpty() ? Set.of() : sequences(renewed()::contains);
  }

  @Override
  public final Set<Long> settle(Map<Long, Decision> decisions) {
    DecidedMessages decided = new DecidedMessages(batch.rows(), decisions);
    if (batch.leases().isEmpty()) {
      return Set.of();
    }
    // The buckets may be held on under the same claim id, by the claim that came after it.
    return lostBut(over ? Set.of() : settled(decided));
  }

  /**
   * @param buckets those of this claim that are still ours
   */
  final Set<Long> lostBut(Set<Integer> buckets) {
    return buckets.size() == batch.leases().size()
        ? Set.of()
        : sequences(bucket -> !buckets.contains(bucket));
  }

  private Set<Long> sequences(Predicate<Integer> ofBucket) {
    return batch.rows().stream()
        .filter(row -> ofBucket.test(row.bucket()))
        .map(Row::sequence)
        .collect(Collectors.toUnmodifiableSet());
  }

  final boolean isEmpty() {
    return batch.rows().isEmpty();
  }

  /** From now on settling finds that everything was lost. */
  final void over() {
    over = true;
  }

  final boolean isOver() {
    return over;
  }
}
