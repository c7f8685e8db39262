package dev.outbox.publisher.http;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Messages to publish, and publishers for them. */
final class TestMessages {
  static final Duration TIMEOUT = Duration.ofSeconds(60);
  static final URI SOURCE = URI.create("https://shop.example/orders");

  private static final AtomicLong sequences = new AtomicLong();

  private TestMessages() {}

  /** Waits for an answer for as long as a loaded machine may need. */
  static HttpPublisher.Builder publisher(String url) {
    return HttpPublisher.builder().url(url).cloudEvents(SOURCE).timeout(Duration.ofHours(1));
  }

  static OutboxMessage.Builder message(String key) {
    return OutboxMessage.builder().aggregate("order", key).eventType("Happened").payload("{}");
  }

  static StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, message.build());
  }

  /** One message of each key, in this order. */
  static List<StoredMessage> batch(String... keys) {
    return Arrays.stream(keys).map(key -> stored(message(key))).toList();
  }

  static Result publishOne(HttpPublisher publisher, OutboxMessage.Builder message)
      throws InterruptedException {
    return publishOne(publisher, stored(message));
  }

  /** As a relay does: while there is no answer yet, the message is handed over again. */
  static Result publishOne(HttpPublisher publisher, StoredMessage message)
      throws InterruptedException {
    Result result = publisher.publish(List.of(message)).get(0);
    while (isOpen(result)) {
      TimeUnit.MILLISECONDS.sleep(20);
      result = publisher.publish(List.of(message)).get(0);
    }
    return result;
  }

  /** Whether the message was sent and has no answer yet. */
  static boolean isOpen(Result result) {
    return result instanceof Result.Unavailable unavailable && unavailable.again() != null;
  }

  static String error(Result result) {
    if (result instanceof Result.Failed failed) {
      return failed.error();
    } else if (result instanceof Result.Rejected rejected) {
      return rejected.error();
    }
    return ((Result.Unavailable) result).error();
  }
}
