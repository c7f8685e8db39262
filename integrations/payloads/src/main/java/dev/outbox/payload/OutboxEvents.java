package dev.outbox.payload;

import static java.util.Objects.requireNonNull;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Makes messages of an application's events: {@code outbox.append(connection,
 * events.message(orderPlaced))}. What a message is about stands in {@link OutboxEvent} on the
 * event's class, or comes from a function ({@link Builder#event}); the payload comes from a {@link
 * PayloadSerializer}.
 *
 * <p>Safe for use by many threads.
 */
public final class OutboxEvents {
  private final PayloadSerializer serializer;
  private final Map<Class<?>, BiConsumer<OutboxMessage.Builder, Object>> functions;
  private final Map<Class<?>, BiConsumer<OutboxMessage.Builder, Object>> known =
      new ConcurrentHashMap<>();

  private OutboxEvents(Builder builder) {
    this.serializer = builder.serializer;
    this.functions = new LinkedHashMap<>(builder.functions);
  }

  /** For events with {@link OutboxEvent}. */
  public static OutboxEvents of(PayloadSerializer serializer) {
    return builder(serializer).build();
  }

  /** Starts without functions. */
  public static Builder builder(PayloadSerializer serializer) {
    return new Builder(serializer);
  }

  /**
   * The message of an event.
   *
   * @throws InvalidMessageException when a field breaks a limit, or the event has no key
   * @throws PermanentOutboxException when nothing says what the event is about
   * @throws RuntimeException what the serializer throws
   */
  public OutboxMessage message(Object event) {
    return prepare(event).build();
  }

  /** The messages of several events, in their order; otherwise as {@link #message}. */
  public List<OutboxMessage> messages(Collection<?> events) {
    return events.stream().map(this::message).toList();
  }

  /** As {@link #message}, for one that gets more: a delay, a dedup key, a correlation id. */
  public OutboxMessage.Builder prepare(Object event) {
    OutboxMessage.Builder message =
        OutboxMessage.builder().eventType(event.getClass().getSimpleName());
    known.computeIfAbsent(event.getClass(), this::description).accept(message, event);
    OutboxMessage about = message.payload(new byte[0]).build();
    SerializedPayload payload = serializer.serialize(about, event);
    return message
        .id(about.id())
        .payload(payload.bytes())
        .contentType(payload.contentType())
        .addHeaders(payload.headers());
  }

  private BiConsumer<OutboxMessage.Builder, Object> description(Class<?> type) {
    BiConsumer<OutboxMessage.Builder, Object> own = functions.get(type);
    if (own != null) {
      return own;
    }
    return functions.entrySet().stream()
        .filter(function -> function.getKey().isAssignableFrom(type))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseGet(() -> AnnotatedEvent.of(type));
  }

  /** Collects the functions. Not safe for use by many threads. */
  public static final class Builder {
    private final PayloadSerializer serializer;
    private final Map<Class<?>, BiConsumer<OutboxMessage.Builder, Object>> functions =
        new LinkedHashMap<>();

    private Builder(PayloadSerializer serializer) {
      this.serializer = requireNonNull(serializer, "serializer");
    }

    /**
     * Says what the messages of a class are about, instead of {@link OutboxEvent}: for classes that
     * somebody else writes or generates, and for more than the annotation can say. The function has
     * to give an aggregate; the event's type is the class's simple name unless it gives one.
     *
     * @param type the class itself, or one above it; the class itself wins, then the first given
     * @throws IllegalArgumentException when the class was given before
     */
    public <E> Builder event(
        Class<E> type, BiConsumer<OutboxMessage.Builder, ? super E> description) {
      requireNonNull(description, "description");
      if (functions.put(type, (message, event) -> description.accept(message, type.cast(event)))
          != null) {
        throw new IllegalArgumentException(
            type.getName() + " is described twice: leave one of the functions out");
      }
      return this;
    }

    /** Builds. */
    public OutboxEvents build() {
      return new OutboxEvents(this);
    }
  }
}
