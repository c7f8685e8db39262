package dev.outbox.testing;

import dev.outbox.OutboxMessage;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/**
 * What a {@link RecordingOutbox} should have been given, by AssertJ's {@code assertThat(outbox)}.
 * It looks at {@link RecordingOutbox#messages()}; inside a transaction that includes its own
 * appends. A failure shows all messages.
 *
 * <pre>{@code
 * assertThat(outbox)
 *     .hasAppended("OrderPlaced")
 *     .ofAggregate("order", "42")
 *     .withJson("{\"total\": 12.50}");
 * }</pre>
 */
public final class OutboxAssert extends AbstractAssert<OutboxAssert, List<OutboxMessage>> {
  private static final String APPENDED = "appended";

  OutboxAssert(List<OutboxMessage> appended) {
    super(appended, OutboxAssert.class);
  }

  /** At least one message of this event type was appended; more can be said about it. */
  public MessageAssert hasAppended(String eventType) {
    return messages().ofType(eventType);
  }

  /** These and no others were appended, in this order; by event type. */
  public OutboxAssert hasAppendedExactly(String... eventTypes) {
    messages().areExactly(List.of(eventTypes));
    return this;
  }

  /** No message of this event type was appended. */
  public OutboxAssert hasNotAppended(String eventType) {
    messages().haveNone(eventType);
    return this;
  }

  /** No message was appended. */
  public OutboxAssert hasAppendedNothing() {
    return hasAppendedExactly();
  }

  private MessageAssert messages() {
    return new MessageAssert(actual, APPENDED).as(descriptionText());
  }
}
