package dev.outbox.payload;

import dev.outbox.OutboxMessage;

/**
 * Makes a message's payload, in the transaction that appends it: what cannot be written fails
 * there, and never becomes a message. Safe for use by many threads.
 *
 * <p>There are {@link Jackson2PayloadSerializer}, {@link Jackson3PayloadSerializer} and {@link
 * KafkaPayloadSerializer}; your own is one method.
 */
@FunctionalInterface
public interface PayloadSerializer {

  /**
   * Makes the payload of a message.
   *
   * @param about the message as far as it is known: without payload and content type
   * @param event what the application handed over
   * @throws RuntimeException when the event cannot be written; it reaches the application as it is,
   *     before anything is appended
   */
  SerializedPayload serialize(OutboxMessage about, Object event);
}
