package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several relays over one store whose operations fail at random, with publishers that fail, throw,
 * hang and are unavailable at random. An oracle knows what the broker saw.
 */
@Tag("slow")
@Timeout(600)
class RelayChaosTest {
  private static final int KEYS = 25;
  private static final int MESSAGES = 1_500;

  /** What the broker saw first, by key. */
  private static final class Oracle {
    private final Map<String, List<Long>> first = new HashMap<>();
    private final Set<Long> seen = ConcurrentHashMap.newKeySet();

    synchronized void delivered(StoredMessage message) {
      if (seen.add(message.sequence())) {
        first.computeIfAbsent(message.key(), k -> new ArrayList<>()).add(message.sequence());
      }
    }
  }

  /** Keeps P2; everything else goes wrong now and then. */
  private static final class WildPublisher extends FakePublisher {
    private final Random random;
    private final Oracle oracle;

    WildPublisher(long seed, Oracle oracle) {
      this.random = new Random(seed);
      this.oracle = oracle;
    }

    @Override
    Result publish(StoredMessage message) throws InterruptedException {
      int dice = random.nextInt(1_000);
      if (dice < 2) {
        Thread.sleep(400); // longer than the publish timeout and the lease
      } else if (dice < 4) {
        sleepWhateverComes(400); // and delivers long after the relay gave up on it
      } else if (dice < 15) {
        throw new IllegalStateException("thrown at random");
      } else if (dice < 20) {
        return Result.unavailable("no broker");
      } else if (dice < 35) {
        return Result.unavailable("no topic", "topic");
      } else if (dice < 60) {
        return Result.failed("failed at random");
      }
      oracle.delivered(message);
      return dice < 70 ? Result.failed("delivered, but the answer was lost") : Result.delivered();
    }
  }

  private static void sleepWhateverComes(long ms) {
    long until = System.nanoTime() + ms * 1_000_000;
    while (until - System.nanoTime() > 0) {
      LockSupport.parkNanos(until - System.nanoTime());
      boolean ignored = Thread.interrupted();
    }
  }

  private static Runnable sometimes(Random random, int oneIn) {
    return () -> {
      if (random.nextInt(oneIn) == 0) {
        throw new TransientOutboxException("at random");
      }
    };
  }

  @Test
  void nothingIsLostAndEveryKeyIsInOrder() {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("RelayChaosTest: run again with -Doutbox.seed=" + seed);
    Random random = new Random(seed);
    FaultyStore store = new FaultyStore();
    store.beforeClaim = sometimes(new Random(random.nextLong()), 20);
    store.beforeRenew = sometimes(new Random(random.nextLong()), 3);
    store.beforeSettle = sometimes(new Random(random.nextLong()), 20);
    store.afterSettle = sometimes(new Random(random.nextLong()), 20);
    Oracle oracle = new Oracle();
    Map<String, List<Long>> appended = new ConcurrentHashMap<>();
    List<Relay> relays = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      relays.add(relay(store, new WildPublisher(random.nextLong(), oracle)));
    }
    relays.forEach(Relay::start);
    for (int i = 0; i < MESSAGES; i++) {
      store.append("key" + random.nextInt(KEYS), "event");
      if (i % 500 == 250) { // one relay goes, another comes
        relays.remove(0).close();
        relays.add(relay(store, new WildPublisher(random.nextLong(), oracle)));
        relays.get(relays.size() - 1).start();
      }
    }
    await()
        .atMost(Duration.ofMinutes(5))
        .untilAsserted(
            () -> {
              var s = store.statistics(10_000);
              assertThat(s.pending() + s.scheduled() + s.blocked()).isZero();
            });
    relays.forEach(Relay::close);
    assertThat(store.deadLetters(0, 1)).as("seed " + seed).isEmpty();
    assertThat(oracle.seen).as("seed " + seed).hasSize(MESSAGES);
    oracle.first.forEach(
        (key, sequences) -> assertThat(sequences).as(key + ", seed " + seed).isSorted());
  }

  private static Relay relay(FaultyStore store, MessagePublisher publisher) {
    RetryPolicy policy =
        RetryPolicy.builder()
            .firstDelay(Duration.ofMillis(5))
            .maxDelay(Duration.ofMillis(50))
            .maxAttempts(1_000)
            .build();
    return Relay.builder(store, publisher)
        .workers(3)
        .batchSize(20)
        .lease(Duration.ofMillis(250))
        .publishTimeout(Duration.ofMillis(150))
        .idlePause(Duration.ofMillis(20))
        .stopTimeout(Duration.ofSeconds(2))
        .retryPolicy(policy)
        .build();
  }
}
