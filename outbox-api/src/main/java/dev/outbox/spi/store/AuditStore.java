package dev.outbox.spi.store;

import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A store that remembers who decided about dead letters, and who replayed messages, beside its
 * archive. An entry is written in the transaction of what it tells.
 */
public interface AuditStore extends DeadLetterStore {

  /**
   * As {@link #requeue(Set)}, with an entry for each.
   *
   * @throws dev.outbox.OutboxException when the store keeps no archive, and so no audit; nothing
   *     was changed
   */
  Set<Long> requeue(Set<Long> sequences, Who by);

  /**
   * As {@link #discard(Set)}, with an entry for each.
   *
   * @throws dev.outbox.OutboxException when the store keeps no archive, and so no audit; nothing
   *     was changed
   */
  Set<Long> discard(Set<Long> sequences, Who by);

  /**
   * As {@link #requeue(Set, Who)}, of one.
   *
   * @return false when there is no such dead letter
   */
  default boolean requeue(long sequence, Who by) {
    return !requeue(Set.of(sequence), by).isEmpty();
  }

  /**
   * As {@link #discard(Set, Who)}, of one.
   *
   * @return false when there is no such dead letter
   */
  default boolean discard(long sequence, Who by) {
    return !discard(Set.of(sequence), by).isEmpty();
  }

  /**
   * What was decided, in the order of the times.
   *
   * @param from the first moment that counts, by the store's clock
   * @param limit at least 1
   * @throws IllegalArgumentException when the limit is less
   */
  List<Entry> audit(Instant from, int limit);

  /** What was done. */
  enum Action {
    /** A dead letter was made due again. */
    REQUEUED,
    /** A dead letter was removed. */
    DISCARDED,
    /** An archived message was appended again. */
    REPLAYED
  }

  /**
   * One decision about one message.
   *
   * @param at by the store's clock
   * @param who as {@link Who#name}
   * @param reason as {@link Who#reason}
   * @param sequence the message's; of one that was replayed, the archived one's
   * @param id the message's, as the store has it, which need not be a UUID
   */
  record Entry(
      Instant at, Action action, String who, @Nullable String reason, long sequence, String id) {}
}
