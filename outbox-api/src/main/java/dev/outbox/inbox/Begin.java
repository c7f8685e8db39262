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
   * @param left until that lock runs out, by the store's clock, unless it is renewed; more than
   *     zero
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
}
