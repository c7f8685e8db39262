package dev.outbox.spring;

import dev.outbox.Appended;
import dev.outbox.InvalidMessageException;
import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.Ordered;

/**
 * Appends application events, in the transaction that publishes them. What fails here reaches
 * whoever published the event, whose transaction then rolls back. Safe for use by many threads.
 *
 * <p>Comes before other listeners: one that publishes an event in answer to this one would
 * otherwise append its message first.
 */
public final class EventRecorder implements ApplicationListener<ApplicationEvent>, Ordered {
  private final Predicate<Object> chosen;
  private final Function<Object, OutboxMessage> messages;
  private final JoinedOutbox outbox;

  /**
   * @param chosen which events are appended
   * @param messages makes the message of an event
   */
  public EventRecorder(
      Predicate<Object> chosen, Function<Object, OutboxMessage> messages, JoinedOutbox outbox) {
    this.chosen = chosen;
    this.messages = messages;
    this.outbox = outbox;
  }

  /** Whether it appends this event. */
  public boolean takes(Object event) {
    return chosen.test(event);
  }

  /**
   * What is to be written into a payload, as it is. An {@link ApplicationEvent} is none: its source
   * is an object of the application, and its timestamp is no content.
   *
   * @throws InvalidMessageException when it is one; it names the class, and says what to do
   */
  public static Object checkedContent(Object content) {
    if (content instanceof ApplicationEvent) {
      throw new InvalidMessageException(
          "%s extends ApplicationEvent, whose source is no content of a message: let it extend nothing, publishEvent takes any object"
              .formatted(content.getClass().getName()));
    }
    return content;
  }

  /**
   * Appends the event if it is one of those.
   *
   * @throws NoTransactionException when there is no transaction; it names the event
   */
  @Override
  public void onApplicationEvent(ApplicationEvent published) {
    Object event =
        published instanceof PayloadApplicationEvent<?> wrapping
            ? wrapping.getPayload()
            : published;
    if (takes(event)) {
      append(event);
    }
  }

  private void append(Object event) {
    try {
      Appended unused = outbox.append(messages.apply(event));
    } catch (NoTransactionException e) {
      throw new NoTransactionException(
          "the event %s goes to the outbox, so publish it in a transaction: %s"
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
