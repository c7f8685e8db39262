package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.stored;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Messages to publish, and publishers for them. */
final class TestMessages {
  static final Duration TIMEOUT = Duration.ofSeconds(60);
  static final URI SOURCE = URI.create("https://shop.example/orders");

  private TestMessages() {}

  /** Waits for an answer for as long as a loaded machine may need. */
  static HttpPublisher.Builder publisher(String url) {
    return HttpPublisher.builder().url(url).cloudEvents(SOURCE).timeout(Duration.ofHours(1));
  }

  static OutboxMessage.Builder message(String key) {
    return dev.outbox.embedded.TestMessages.message("order", key);
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
}
