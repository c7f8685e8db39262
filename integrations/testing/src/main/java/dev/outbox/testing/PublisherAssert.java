package dev.outbox.testing;

import dev.outbox.OutboxMessage;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/**
 * What a {@link RecordingPublisher} should have delivered, by AssertJ's {@code
 * assertThat(publisher)}. A failure shows all messages.
 */
public final class PublisherAssert extends AbstractAssert<PublisherAssert, List<OutboxMessage>> {
  private static final String DELIVERED = "delivered";

  PublisherAssert(List<OutboxMessage> delivered) {
    super(delivered, PublisherAssert.class);
  }

  /** At least one message of this event type was delivered; more can be said about it. */
  public MessageAssert hasDelivered(String eventType) {
    return messages().ofType(eventType);
  }

  /** These and no others were delivered, in this order; by event type. */
  public PublisherAssert hasDeliveredExactly(String... eventTypes) {
    messages().areExactly(List.of(eventTypes));
    return this;
  }

  /** No message of this event type was delivered. */
  public PublisherAssert hasNotDelivered(String eventType) {
    messages().haveNone(eventType);
    return this;
  }

  /** No message was delivered. */
  public PublisherAssert hasDeliveredNothing() {
    return hasDeliveredExactly();
  }

  private MessageAssert messages() {
    return new MessageAssert(actual, DELIVERED).as(descriptionText());
  }
}
