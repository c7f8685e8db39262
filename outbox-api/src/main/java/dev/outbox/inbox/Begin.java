package dev.outbox.inbox;

import java.time.Duration;

/**
 * What {@link Inbox#begin} says is to be done with a message.
 *
 * @param <T> the transaction's type
 */
public sealed interface Begin<T> {

  /**
   * Handle it: this caller has the lock.
   *
   * @param lock to be completed or released
   */
  record Started<T>(Lock<T> lock) implements Begin<T> {}

  /**
   * Somebody else is handling it; it is not done (I5).
   *
   * @param left how long until that lock runs out, by the store's clock, unless it is renewed; more
   *     than zero
   */
  record InProgress<T>(Duration left) implements Begin<T> {}

  /**
   * It was handled: do nothing, and answer this (I6).
   *
   * @param result exactly as it was stored; {@link InboxResult#none} when it was recorded by {@link
   *     Inbox#firstTime}
   */
  record Done<T>(InboxResult result) implements Begin<T> {}

  /** The key was used for another message: their fingerprints differ (I7). Do nothing. */
  record Mismatch<T>() implements Begin<T> {}

  /**
   * The right to handle a message, until it is completed, released, or taken over after its end.
   * Each method says false, and has changed nothing, when the lock is no longer this caller's (I4):
   * what the caller does then may happen beside another. Safe for use by many threads.
   *
   * <p>A lock that has run out is still this caller's for as long as nobody took it over.
   *
   * <p>The methods throw what {@link Inbox#begin} throws. Repeated after a lost reply, each gives
   * the same answer again.
   *
   * @param <T> the transaction's type
   */
  interface Lock<T> {

    /** What is locked. */
    InboxKey key();

    /** How often the message was begun, this time included: from 1 on. */
    int attempts();

    /**
     * Makes the lock last for this long from now on, by the store's clock.
     *
     * @param lock from 1 ms to {@link dev.outbox.OutboxMessage#MAX_DELAY}
     * @return false when it is completed, released or taken over
     */
    boolean renew(Duration lock);

    /**
     * The message is done; whoever begins it again is given the result (I6). A second call changes
     * nothing: the first result stays.
     *
     * @return false when it was released or taken over
     */
    boolean complete(InboxResult result);

    /** Completes without a result. */
    default boolean complete() {
      return complete(InboxResult.none());
    }

    /**
     * The same in the caller's transaction: the message is done if and only if that commits.
     *
     * @param transaction an active transaction of the caller
     * @return false when it was released or taken over; then roll back
     * @throws dev.outbox.NoTransactionException when no transaction is active; nothing was written
     */
    boolean complete(T transaction, InboxResult result);

    /**
     * Gives the lock back, because the message could not be handled: it may be begun again at once.
     *
     * @param error why, for people; cut and cleaned as {@link dev.outbox.Texts#clean} does
     * @return false when it was completed or taken over
     */
    boolean release(String error);
  }
}
