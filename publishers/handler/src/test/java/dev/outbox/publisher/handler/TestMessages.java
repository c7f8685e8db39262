package dev.outbox.publisher.handler;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Messages, and handlers that are no good. */
final class TestMessages {
  private static final AtomicLong sequences = new AtomicLong();

  private TestMessages() {}

  static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofMinutes(2));
  }

  static OutboxMessage message(String eventType, String key) {
    return OutboxMessage.builder()
        .aggregate("order", key)
        .eventType(eventType)
        .payload("{}")
        .build();
  }

  static StoredMessage stored(String eventType, String key) {
    return StoredMessage.of(sequences.incrementAndGet(), 0, Instant.EPOCH, message(eventType, key));
  }

  static Result publishOne(MessagePublisher publisher, String eventType) throws Exception {
    return publisher.publish(List.of(stored(eventType, "k"))).get(0);
  }

  /** Waits, and heeds no interrupt. */
  static void waitDeaf(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException e) {
        // on
      }
    }
  }

  static int recurse(int depth) {
    return depth < 0 ? 0 : recurse(depth + 1) + 1;
  }
}
