package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** O2, from append to publisher. */
@DisplayName("A key whose head fails five times")
class FailingHeadTest extends DatabaseTest {
  private static final int MESSAGES = 2_000;
  private static final int KEYS = 50;
  private static final int FAILURES = 5;

  @BeforeEach
  void migrate() {
    store.migrate();
  }

  /** Fails the first message of one key some times, and notes when each message was delivered. */
  private static final class Publisher implements MessagePublisher {
    private final String failingKey;
    private final Map<String, Long> deliveredAt = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<String> order = new ConcurrentLinkedQueue<>();
    private volatile int failures;

    Publisher(String failingKey) {
      this.failingKey = failingKey;
    }

    @Override
    public List<Result> publish(List<StoredMessage> messages) {
      List<Result> results = new ArrayList<>();
      boolean failed = false;
      for (StoredMessage message : messages) {
        boolean bad = message.key().equals(failingKey);
        if (bad && (failed || failures < FAILURES)) {
          failures += failed ? 0 : 1;
          failed = true;
          results.add(Result.failed("refused"));
        } else {
          String name = message.message().payloadAsString();
          deliveredAt.put(name, System.nanoTime());
          order.add(name);
          results.add(Result.delivered());
        }
      }
      return results;
    }
  }

  /** Appends and relays at once; returns the 99th percentile of the other keys in milliseconds. */
  private double p99OfOthers(Publisher publisher) {
    RetryPolicy policy =
        RetryPolicy.builder().firstDelay(Duration.ofMillis(200)).maxAttempts(FAILURES + 1).build();
    Map<String, Long> committedAt = new ConcurrentHashMap<>();
    try (Relay relay = Relay.builder(store, publisher).workers(1).retryPolicy(policy).build()) {
      Outbox<Connection> outbox = relay.wakeOnAppend(store);
      relay.start();
      for (int i = 0; i < MESSAGES; i++) {
        String key = "key " + i % KEYS;
        String name = key + " message " + i;
        OutboxMessage message =
            OutboxMessage.builder()
                .aggregate("order", key)
                .partitionKey(key)
                .eventType("e")
                .payload(name)
                .build();
        database.inTransaction(false, c -> outbox.append(c, message));
        committedAt.put(name, System.nanoTime());
      }
      await().atMost(Duration.ofMinutes(2)).until(() -> publisher.deliveredAt.size() == MESSAGES);
    }
    double[] latencies =
        committedAt.entrySet().stream()
            .filter(e -> !e.getKey().startsWith("key 0 "))
            .mapToDouble(e -> (publisher.deliveredAt.get(e.getKey()) - e.getValue()) / 1e6)
            .sorted()
            .toArray();
    return latencies[latencies.length * 99 / 100];
  }

  @Test
  @DisplayName("keeps its order, and the other keys go on meanwhile")
  void othersGoOn() {
    Publisher healthy = new Publisher("none");
    Publisher failing = new Publisher("key 0");
    double without = p99OfOthers(healthy);
    double with = p99OfOthers(failing);
    System.out.printf(
        "commit to delivery of the other keys, p99: %.1f ms without a failing key, %.1f ms with one%n",
        without, with);

    List<String> order = List.copyOf(failing.order);
    assertThat(failing.failures).as("failures of the head").isEqualTo(FAILURES);
    assertThat(order.stream().filter(name -> name.startsWith("key 0 ")))
        .as("the failing key")
        .isSortedAccordingTo((a, b) -> Integer.compare(number(a), number(b)))
        .hasSize(MESSAGES / KEYS);
    assertThat(order.subList(0, order.indexOf("key 0 message 0")))
        .as("delivered before the failing head")
        .hasSizeGreaterThan(KEYS);
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("0");
  }

  private static int number(String name) {
    return Integer.parseInt(name.substring(name.lastIndexOf(' ') + 1));
  }
}
