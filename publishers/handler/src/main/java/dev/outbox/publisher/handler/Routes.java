package dev.outbox.publisher.handler;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which handler has a message.
 *
 * @param others for what no other one takes; null: nothing
 */
record Routes(
    Map<String, HandlerThreads> byEventType,
    Map<String, HandlerThreads> byAggregateType,
    @Nullable HandlerThreads others) {

  /** Null when it has none. */
  @Nullable HandlerThreads lane(StoredMessage stored) {
    OutboxMessage message = stored.message();
    HandlerThreads ofEvent = byEventType.get(message.eventType());
    return ofEvent != null
        ? ofEvent
        : byAggregateType.getOrDefault(message.aggregateType(), others);
  }

  static Result withoutHandler(StoredMessage stored) {
    return Result.rejected(
        "there is no handler for the event type %s: add one, or one for all others"
            .formatted(stored.message().eventType()));
  }

  Collection<HandlerThreads> lanes() {
    return Stream.of(
            byEventType.values().stream(),
            byAggregateType.values().stream(),
            Stream.ofNullable(others))
        .flatMap(lanes -> lanes)
        .toList();
  }
}
