package dev.outbox.inbox;

/** An {@link Inbox} that joins the current transaction. */
@FunctionalInterface
public interface JoinedInbox {

  /** As {@link Inbox#firstTime}, in the current transaction. */
  boolean firstTime(InboxKey key);

  /**
   * The same, with the parts of the key.
   *
   * @param consumer as in {@link InboxKey}
   * @param messageId as in {@link InboxKey}
   * @throws dev.outbox.InvalidMessageException as {@link InboxKey}
   */
  default boolean firstTime(String consumer, String messageId) {
    return firstTime(new InboxKey(consumer, messageId));
  }
}
