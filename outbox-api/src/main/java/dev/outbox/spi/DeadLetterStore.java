package dev.outbox.spi;

import java.time.Instant;
import java.util.List;
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
   * Makes a dead letter due again with no attempts counted. It keeps its sequence; a key that it
   * blocked goes on with it first.
   *
   * @return false when there is no such dead letter
   */
  boolean requeue(long sequence);

  /**
   * Removes a dead letter for good. A key that it blocked goes on.
   *
   * @return false when there is no such dead letter
   */
  boolean discard(long sequence);

  /**
   * @param message as a claim would hand it out; its attempts are those made
   * @param error the last error, null when none is known
   * @param failedAt when it was settled as dead, by the database's clock; null when not known
   */
  record DeadLetter(StoredMessage message, @Nullable String error, @Nullable Instant failedAt) {}
}
