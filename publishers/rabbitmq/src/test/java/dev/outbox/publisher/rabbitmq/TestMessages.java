package dev.outbox.publisher.rabbitmq;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Messages to publish; needs no broker. */
final class TestMessages {
  private static final AtomicLong sequences = new AtomicLong();

  private TestMessages() {}

  /** With the defaults of the publisher, the exchange is the aggregate type. */
  static OutboxMessage.Builder message(String exchange, String routingKey, String key) {
    return OutboxMessage.builder()
        .aggregate(exchange, key)
        .partitionKey(key)
        .eventType(routingKey)
        .payload("{}");
  }

  static StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, message.build());
  }
}
