package dev.outbox.embedded;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Messages for tests of publishers, and what became of them. */
public final class TestMessages {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final AtomicLong SEQUENCES = new AtomicLong();

  private TestMessages() {}

  /** Of this aggregate type, by which most publishers know where it goes. */
  public static OutboxMessage.Builder message(String type, String key) {
    return OutboxMessage.builder()
        .aggregate(type, key)
        .partitionKey(key)
        .eventType("Happened")
        .payload("{}");
  }

  /** As a store gives it, with a sequence of its own. */
  public static StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(SEQUENCES.incrementAndGet(), 0, now, message.build());
  }

  public static List<StoredMessage> batch(OutboxMessage.Builder... messages) {
    return Arrays.stream(messages).map(TestMessages::stored).toList();
  }

  public static Result publishOne(MessagePublisher publisher, OutboxMessage.Builder message)
      throws InterruptedException {
    return publisher.publish(batch(message)).get(0);
  }

  /** As a relay does: what is unavailable is published again. */
  public static void publishUntilDelivered(MessagePublisher publisher, List<StoredMessage> messages)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    List<StoredMessage> open = new ArrayList<>(messages);
    while (!open.isEmpty()) {
      List<Result> results = publisher.publish(List.copyOf(open));
      for (int i = open.size() - 1; i >= 0; i--) {
        if (results.get(i) instanceof Result.Delivered) {
          open.remove(i);
        } else if (!(results.get(i) instanceof Result.Unavailable) || end - System.nanoTime() < 0) {
          throw new AssertionError("%s is %s".formatted(open.get(i), results.get(i)));
        }
      }
    }
  }

  /** Of a message that was not delivered. */
  public static String error(Result result) {
    if (result instanceof Result.Failed failed) {
      return failed.error();
    }
    return result instanceof Result.Rejected rejected
        ? rejected.error()
        : ((Result.Unavailable) result).error();
  }

  /** Of a message that is unavailable. */
  public static @Nullable String destination(Result result) {
    return ((Result.Unavailable) result).destination();
  }
}
