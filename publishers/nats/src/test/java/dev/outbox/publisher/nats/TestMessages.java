package dev.outbox.publisher.nats;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Messages to publish; needs no server. */
final class TestMessages {
  private static final AtomicLong sequences = new AtomicLong();

  private TestMessages() {}

  static OutboxMessage.Builder message(String type, String key) {
    return OutboxMessage.builder().aggregate(type, key).eventType("Happened").payload("{}");
  }

  static StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, message.build());
  }

  static List<StoredMessage> batch(OutboxMessage.Builder... messages) {
    return Arrays.stream(messages).map(TestMessages::stored).toList();
  }

  static Result publishOne(NatsPublisher publisher, OutboxMessage.Builder message)
      throws InterruptedException {
    return publisher.publish(List.of(stored(message))).get(0);
  }

  static String error(Result result) {
    if (result instanceof Result.Failed failed) {
      return failed.error();
    } else if (result instanceof Result.Rejected rejected) {
      return rejected.error();
    }
    return ((Result.Unavailable) result).error();
  }

  static String destination(Result result) {
    return ((Result.Unavailable) result).destination();
  }
}
