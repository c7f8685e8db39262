package dev.outbox.spi.store;

/** An inbox whose database gives rights to users. */
public interface InboxGrantsStore {

  /**
   * The statements that let one user handle messages, and another purge what is no longer needed
   * and count the rest. Connects to nothing.
   *
   * @param consumer a plain name of a user or a role
   * @param housekeeper the same; may be the consumer's
   * @throws IllegalArgumentException when a name is not plain
   */
  String grants(String consumer, String housekeeper);
}
