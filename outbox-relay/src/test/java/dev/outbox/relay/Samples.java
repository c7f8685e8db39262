package dev.outbox.relay;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;

/** Messages for tests. */
final class Samples {
  static final String TYPE = "order";

  private Samples() {}

  static OutboxMessage message(String key, String event) {
    return builder(key, event).build();
  }

  static OutboxMessage.Builder builder(String key, String event) {
    return OutboxMessage.builder()
        .aggregate(TYPE, key)
        .partitionKey(key)
        .eventType(event)
        .payload("secret payload of " + event)
        .header("authorization", "secret header");
  }

  static StoredMessage stored(long sequence, String key) {
    return stored(sequence, key, 0);
  }

  static StoredMessage stored(long sequence, String key, int attempts) {
    return StoredMessage.of(sequence, attempts, Instant.EPOCH, message(key, "event" + sequence));
  }

  static StoredMessage damaged(long sequence, String key, int attempts) {
    return StoredMessage.undecodable(
        sequence, key, "order", attempts, Instant.EPOCH, "headers are not JSON");
  }
}
