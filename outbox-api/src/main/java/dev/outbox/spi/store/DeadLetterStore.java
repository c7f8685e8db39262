package dev.outbox.spi.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A store in which someone can look at dead letters and decide about them. */
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
   * none. They keep their sequences; a key that one of them halted goes on with it first. What
   * producers and relays may have to wait for is held until the end: a hundred are soon done.
   *
   * @return those that were dead letters
   */
  Set<Long> requeue(Set<Long> sequences);

  /**
   * Removes dead letters for good, in one transaction: all of them, or none. A key that one of them
   * halted goes on. As many as of {@link #requeue(Set)}.
   *
   * @return those that were dead letters
   */
  Set<Long> discard(Set<Long> sequences);

  /**
   * As {@link #requeue(Set)}, of one.
   *
   * @return false when there is no such dead letter
   */
  default boolean requeue(long sequence) {
    return !requeue(Set.of(sequence)).isEmpty();
  }

  /**
   * As {@link #discard(Set)}, of one.
   *
   * @return false when there is no such dead letter
   */
  default boolean discard(long sequence) {
    return !discard(Set.of(sequence)).isEmpty();
  }

  /**
   * Some of the keys that dead letters halt, in no order. By default all dead letters are looked
   * at, until there are so many; where there may be many, a store has a shorter way.
   *
   * @param limit at least 1
   * @throws IllegalArgumentException when the limit is less
   */
  default List<HaltedKey> haltedKeys(int limit) {
    int page = 20; // of which each may have a large payload
    List<HaltedKey> keys = new ArrayList<>();
    List<DeadLetter> letters = deadLetters(0, Math.min(limit, page));
    while (!letters.isEmpty() && keys.size() < limit) {
      letters.stream()
          .filter(DeadLetter::haltsKey)
          .map(DeadLetter::message)
          .map(message -> new HaltedKey(message.key(), message.sequence()))
          .forEach(keys::add);
      letters = deadLetters(letters.get(letters.size() - 1).message().sequence(), page);
    }
    return keys.subList(0, Math.min(limit, keys.size()));
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

  /**
   * A key that is halted.
   *
   * @param sequence of a dead letter that halts it
   */
  record HaltedKey(String key, long sequence) {}
}
