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
 * @param ignore whether a message without a handler counts as handled
 */
record Routes(
    Map<String, Lane> byEventType,
    Map<String, Lane> byAggregateType,
    @Nullable Lane others,
    boolean ignore) {

  /** Null when it has none. */
  @Nullable Lane lane(StoredMessage stored) {
    OutboxMessage message = stored.message();
    Lane ofEvent = byEventType.get(message.eventType());
    return ofEvent != null
        ? ofEvent
        : byAggregateType.getOrDefault(message.aggregateType(), others);
  }

  Result withoutHandler(StoredMessage stored) {
    return ignore
        ? Result.delivered()
        : Result.rejected(
            "there is no handler for the event type %s: add one, or let ignoreOthers() drop such messages"
                .formatted(stored.message().eventType()));
  }

  Collection<Lane> lanes() {
    return Stream.of(
            byEventType.values().stream(),
            byAggregateType.values().stream(),
            Stream.ofNullable(others))
        .flatMap(lanes -> lanes)
        .toList();
  }
}
