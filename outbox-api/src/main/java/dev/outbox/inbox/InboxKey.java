package dev.outbox.inbox;

import dev.outbox.Texts;

/**
 * A message as one consumer knows it: another consumer of the same message has a key of its own.
 * Two keys are the same when both texts are, character by character: case, spaces and Unicode
 * normal form count.
 *
 * @param consumer who handles the message, as {@code shipping}; not the instance, but what must
 *     handle it once
 * @param messageId what the message keeps when it arrives again, as the header {@code outbox-id},
 *     or the Idempotency-Key of a request
 */
public record InboxKey(String consumer, String messageId) {

  /**
   * @throws dev.outbox.InvalidMessageException when a text is blank, is longer than {@link
   *     Texts#MAX} code points, or cannot be stored
   */
  public InboxKey {
    consumer = Texts.name("consumer", consumer);
    messageId = Texts.name("messageId", messageId);
  }

  /** Both texts, for logs and errors. */
  @Override
  public String toString() {
    return "message %s of consumer %s".formatted(messageId, consumer);
  }
}
