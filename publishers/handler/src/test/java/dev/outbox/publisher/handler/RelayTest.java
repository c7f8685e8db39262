package dev.outbox.publisher.handler;

import static dev.outbox.publisher.handler.TestMessages.await;
import static dev.outbox.publisher.handler.TestMessages.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers behind a relay. */
@Timeout(300)
class RelayTest {
  private final MemoryOutboxStore store = new MemoryOutboxStore();

  private void append(String eventType, String key) {
    MemoryTransaction transaction = store.begin();
    store.append(transaction, message(eventType, key));
    transaction.commit();
  }

  private Relay.Builder relay(MessagePublisher publisher) {
    return Relay.builder(store, publisher)
        .retryPolicy(
            RetryPolicy.builder()
                .maxAttempts(1_000)
                .firstDelay(Duration.ofMillis(1))
                .maxDelay(Duration.ofMillis(10))
                .build());
  }

  @Test
  @DisplayName("a handler may append to the same outbox")
  void appends() {
    CountDownLatch shipped = new CountDownLatch(1);
    try (HandlerPublisher publisher =
            HandlerPublisher.builder()
                .concurrency(1)
                .on("Placed", message -> append("Shipped", message.message().aggregateId()))
                .on("Shipped", message -> shipped.countDown())
                .build();
        Relay relay = relay(publisher).build()) {
      relay.start();
      append("Placed", "k");
      await().until(() -> shipped.getCount() == 0);
    }
  }

  /** What was handled, by key, when for the first time; and whether two runs of a key met. */
  private static final class Oracle {
    private final Map<String, List<Long>> first = new HashMap<>();
    private final Set<Long> seen = ConcurrentHashMap.newKeySet();
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final Set<String> met = ConcurrentHashMap.newKeySet();

    void begins(StoredMessage message) {
      if (!running.add(message.key())) {
        met.add(message.key());
      }
    }

    void ends(StoredMessage message) {
      running.remove(message.key());
    }

    synchronized void handled(StoredMessage message) {
      if (seen.add(message.sequence())) {
        first.computeIfAbsent(message.key(), key -> new ArrayList<>()).add(message.sequence());
      }
    }
  }

  @Test
  @DisplayName(
      "handlers that fail, hang, hear nothing and throw errors: all in order, one at a time")
  void hostile() throws Exception {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("RelayTest: run again with -Doutbox.seed=" + seed);
    Random random = new Random(seed);
    Oracle oracle = new Oracle();
    CountDownLatch wakesDeaf = new CountDownLatch(1);
    AtomicInteger deaf = new AtomicInteger();
    Map<String, List<Long>> appended = new HashMap<>();
    try (HandlerPublisher publisher =
        HandlerPublisher.builder()
            .timeout(Duration.ofSeconds(1))
            .onOthers(
                message -> {
                  oracle.begins(message);
                  try {
                    wild(message, random, wakesDeaf, deaf);
                    oracle.handled(message);
                  } finally {
                    oracle.ends(message);
                  }
                })
            .build()) {
      for (int i = 0; i < 1_000; i++) {
        String key = "k" + random.nextInt(50);
        append("Placed", key);
        appended.computeIfAbsent("order/" + key, k -> new ArrayList<>()).add(i + 1L);
      }
      for (int stops = 0; stops < 3; stops++) { // in the middle
        int until = 200 * (stops + 1);
        try (Relay relay = relay(publisher).stopTimeout(Duration.ofMillis(100)).build()) {
          relay.start();
          await().until(() -> oracle.seen.size() >= until);
        }
      }
      try (Relay relay = relay(publisher).build();
          Relay other = relay(publisher).build()) {
        relay.start();
        other.start();
        await().until(() -> oracle.seen.size() >= 850); // what deaf ones hold is less
        wakesDeaf.countDown();
        await().until(() -> oracle.seen.size() == 1_000);
      }
    }
    assertThat(oracle.met).as("keys with two runs at once").isEmpty();
    assertThat(oracle.first).isEqualTo(appended);
  }

  private static void wild(
      StoredMessage message, Random random, CountDownLatch wakesDeaf, AtomicInteger deaf)
      throws Exception {
    int dice = random.nextInt(1_000);
    if (dice < 3) {
      new CountDownLatch(1).await();
    } else if (dice < 6 && deaf.incrementAndGet() <= 3) {
      TestMessages.waitDeaf(wakesDeaf);
    } else if (dice < 30) {
      throw new IOException("at random");
    } else if (dice < 40) {
      throw new StackOverflowError();
    } else if (dice < 45) {
      throw new OutOfMemoryError("at random");
    } else if (dice < 50) {
      Thread.currentThread().interrupt();
    } else if (dice < 55) {
      throw new UnavailableException("at random");
    } else if (dice < 60) {
      throw new InterruptedException("at random");
    }
  }
}
