package dev.outbox.spi.store;

import dev.outbox.spi.store.ArchiveStore.Who;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A store in which someone can look at dead letters and decide about them, and cancel messages. */
public interface DeadLetterStore {

  /**
   * Dead letters in sequence order.
   *
   * @param afterSequence 0, or the last sequence of the page before
   * @param limit at least 1
   * @throws IllegalArgumentException when the limit is less
   */
  List<DeadLetter> deadLetters(long afterSequence, int limit);

  /**
   * Makes dead letters due again with no attempts counted, in one transaction: all of them, or
   * none. They keep their sequences; a key that one of them halted goes on with it first. Until the
   * transaction ends it holds locks that producers and relays may wait for, so pass about a hundred
   * at a time.
   *
   * @param by who decides: the audit gets an entry for each; null: none
   * @return those that were dead letters
   * @throws dev.outbox.OutboxException when somebody is named and the store keeps no archive, and
   *     so no audit; nothing was changed
   */
  Set<Long> requeue(Set<Long> sequences, @Nullable Who by);

  /**
   * Removes dead letters for good, in one transaction: all of them, or none. A key that one of them
   * halted goes on. Pass as many at a time as to {@link #requeue(Set, Who)}.
   *
   * @param by as of {@link #requeue(Set, Who)}
   * @return those that were dead letters
   * @throws dev.outbox.OutboxException as {@link #requeue(Set, Who)}
   */
  Set<Long> discard(Set<Long> sequences, @Nullable Who by);

  /**
   * Removes messages for good that are {@link InspectionStore.Status#SCHEDULED} and not yet due by
   * the store's clock, in one transaction (S8). Their dedup keys stay in use. Pass as many at a
   * time as to {@link #requeue(Set, Who)}.
   *
   * @param by as of {@link #requeue(Set, Who)}; the entry is that of {@link #discard(Set, Who)}
   * @return those that were removed: no relay has had them. For the others it is too late
   * @throws UnsupportedOperationException when the store cannot
   * @throws dev.outbox.OutboxException as {@link #requeue(Set, Who)}
   */
  default Set<Long> cancel(Set<Long> sequences, @Nullable Who by) {
    throw new UnsupportedOperationException("this store cannot cancel messages");
  }

  /**
   * Requeues one dead letter, without an entry in the audit.
   *
   * @return false when there is no such dead letter
   */
  default boolean requeue(long sequence) {
    return !requeue(Set.of(sequence), null).isEmpty();
  }

  /**
   * Discards one dead letter, without an entry in the audit.
   *
   * @return false when there is no such dead letter
   */
  default boolean discard(long sequence) {
    return !discard(Set.of(sequence), null).isEmpty();
  }

  /**
   * @param message as a claim would hand it out; its attempts are those made
   * @param error the last error, null when none is known
   * @param failedAt when it was settled as dead, by the database's clock; null when not known
   * @param haltsKey whether later messages of its key wait until someone decides about it (O3)
   */
  record DeadLetter(
      StoredMessage message,
      @Nullable String error,
      @Nullable Instant failedAt,
      boolean haltsKey) {}
}
