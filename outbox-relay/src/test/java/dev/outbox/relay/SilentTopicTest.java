package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.relay.Worker.Round;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One topic is silent, and the publisher blames the whole broker for it, as one does that cannot
 * tell. The messages of the others must go out all the same (P3); counted in rounds of a worker, on
 * a clock that the test moves.
 */
class SilentTopicTest {
  private static final int MESSAGES = 450;
  private static final String SILENT = "silent";
  private static final String FINE = "fine";

  private final AtomicLong clock = new AtomicLong();
  private final FaultyStore store = new FaultyStore(() -> Instant.ofEpochSecond(0, clock.get()));
  private final Recorder events = new Recorder();
  private final List<StoredMessage> delivered = new ArrayList<>();
  private final ThreadPoolExecutor publishing =
      (ThreadPoolExecutor) Executors.newCachedThreadPool();
  private boolean frozen = true;
  private final Worker worker = worker();
  private int rounds;

  @AfterEach
  void stop() {
    publishing.shutdownNow();
  }

  private Worker worker() {
    Duration time = Duration.ofSeconds(10);
    Settings settings =
        new Settings("relay", 1, 100, 1_000_000, Duration.ofHours(1), time, time, time);
    Verdicts verdicts =
        new Verdicts("relay", RetryPolicy.ofDefaults(), Set.of(), new Destinations(), events);
    MessagePublisher publisher = this::publish;
    return new Worker(
        "relay/0",
        store,
        new Worker.Shared(
            publisher,
            settings,
            verdicts,
            new Breaker("relay", 100, () -> 0, events),
            new OperatorPauses("relay", null, events, clock::get),
            new Waiting(time, new Pauses(time, () -> 0, clock::get), System::nanoTime),
            events,
            publishing,
            clock::get));
  }

  private List<Result> publish(List<StoredMessage> messages) {
    List<Result> results = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : messages) {
      boolean silent = frozen && message.message().aggregateType().equals(SILENT);
      if (stopped.contains(message.key()) || silent) {
        stopped.add(message.key());
        results.add(Result.unavailable("the broker does not answer"));
      } else {
        delivered.add(message);
        results.add(Result.delivered());
      }
    }
    return results;
  }

  private void append(String type, int key) {
    store.inTransaction(
        t ->
            store.append(
                t,
                OutboxMessage.builder()
                    .aggregate(type, type + key)
                    .eventType("happened")
                    .payload("{}")
                    .build()));
  }

  private long deliveredOf(String type) {
    return delivered.stream().filter(m -> m.message().aggregateType().equals(type)).count();
  }

  /** Rounds are counted, unless the breaker refuses them; time passes when there is nothing. */
  private void work(long fine) throws InterruptedException {
    for (int refused = 0; deliveredOf(FINE) < fine; ) {
      assertThat(rounds + refused)
          .as("%s of %s are out", deliveredOf(FINE), fine)
          .isLessThan(9_999);
      Round round = worker.round();
      if (round == Round.REFUSED) {
        refused++;
      } else {
        rounds++;
      }
      if (round != Round.BUSY) {
        clock.addAndGet(Duration.ofMillis(50).toNanos());
      }
    }
  }

  private void assertAllInOrder(int messages) throws InterruptedException {
    frozen = false;
    for (int i = 0; i < 9_999 && delivered.size() < messages; i++) {
      if (worker.round() != Round.BUSY) {
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
      }
    }
    assertThat(delivered).hasSize(messages).allSatisfy(m -> assertThat(m.attempts()).isZero());
    for (String key : delivered.stream().map(StoredMessage::key).distinct().toList()) {
      assertThat(delivered.stream().filter(m -> m.key().equals(key)))
          .extracting(StoredMessage::sequence)
          .isSorted();
    }
    assertThat(events.of("dead")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 50, 450})
  void aBacklogOfTheSilentOneInFrontOfTheOthers(int keys) throws InterruptedException {
    for (int i = 0; i < MESSAGES; i++) {
      append(SILENT, i % keys);
    }
    for (int i = 0; i < MESSAGES; i++) {
      append(FINE, i % keys);
    }
    work(MESSAGES);
    assertThat(rounds).as("without the silent ones it is 5").isLessThanOrEqualTo(5 + 15);
    assertAllInOrder(2 * MESSAGES);
  }

  @Test
  void aMixedBacklog() throws InterruptedException {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("SilentTopicTest: run again with -Doutbox.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 2 * MESSAGES; i++) {
      append(i % 2 == 0 ? SILENT : FINE, random.nextInt(200));
    }
    work(MESSAGES);
    assertThat(rounds).as("without the silent ones it is 5; seed " + seed).isLessThan(5 + 20);
    assertAllInOrder(2 * MESSAGES);
  }

  @Test
  void messagesThatComeOneByOne() throws InterruptedException {
    for (int i = 0; i < MESSAGES; i++) {
      append(SILENT, i % 40);
      append(FINE, i % 40);
      work(i + 1);
    }
    assertThat(rounds).as("without the silent ones it is 900").isLessThan(3 * 900);
    assertAllInOrder(2 * MESSAGES);
  }

  @Test
  void nothingButTheSilentOneAndThenAnother() throws InterruptedException {
    for (int i = 0; i < MESSAGES; i++) {
      append(SILENT, i);
    }
    for (int i = 0; i < 2_000; i++) {
      if (worker.round() != Round.BUSY) {
        clock.addAndGet(Duration.ofMillis(50).toNanos());
      }
    }
    assertThat(events.of("retried"))
        .as("what tests set aside in 100 seconds, each 5 seconds")
        .hasSizeLessThan(25 * Breaker.MOST_SET_ASIDE);
    append(FINE, 0);
    rounds = 0;
    work(1);
    assertThat(rounds).isLessThan(20);
    assertAllInOrder(MESSAGES + 1);
  }
}
