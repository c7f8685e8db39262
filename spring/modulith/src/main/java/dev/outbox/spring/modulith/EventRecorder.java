package dev.outbox.spring.modulith;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.Ordered;
import org.springframework.modulith.events.EventExternalizationConfiguration;

/**
 * Appends each event that is to be externalized, in the transaction that published it. What fails
 * here reaches whoever published the event, whose transaction then rolls back.
 *
 * <p>Comes before other listeners: one that publishes an event in answer to this one would
 * otherwise append its message first.
 */
final class EventRecorder implements ApplicationListener<PayloadApplicationEvent<?>>, Ordered {
  private final EventExternalizationConfiguration configuration;
  private final ExternalizedMessages messages;
  private final JoinedOutbox outbox;

  EventRecorder(
      EventExternalizationConfiguration configuration,
      ExternalizedMessages messages,
      JoinedOutbox outbox) {
    this.configuration = configuration;
    this.messages = messages;
    this.outbox = outbox;
  }

  @Override
  public void onApplicationEvent(PayloadApplicationEvent<?> published) {
    Object event = published.getPayload();
    if (configuration.supports(event)) {
      append(event);
    }
  }

  private void append(Object event) {
    try {
      Appended unused = outbox.append(messages.of(event));
    } catch (NoTransactionException e) {
      throw new NoTransactionException(
          "the event %s is to be externalized, so publish it in a transaction: %s"
              .formatted(event.getClass().getName(), e.getMessage()),
          e);
    }
  }

  /** Another thread would not be in the transaction. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
