package dev.outbox.publisher.rabbitmq;

import static dev.outbox.publisher.rabbitmq.TestMessages.message;
import static dev.outbox.publisher.rabbitmq.TestMessages.stored;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Hot keys while the broker is killed, stopped and paused; an oracle reads back what arrived. */
class RestartsTest {
  private static final int WORKERS = 2;
  private static final int KEYS = 3;
  private static final int LEAST = 300;

  @Test
  @DisplayName("each key arrives in order and whole, whatever happens to the broker")
  void ordered() throws Exception {
    EmbeddedRabbit rabbit = TestRabbit.embedded();
    long seed = Long.getLong("outbox.test.seed", System.nanoTime());
    System.out.println("outbox.test.seed=" + seed);
    String exchange = TestRabbit.exchange();
    rabbit.restart(); // one that is killed just after a binding was made may lose it
    AtomicInteger delivered = new AtomicInteger();
    Map<Integer, Result> last = new ConcurrentHashMap<>();
    CompletableFuture<Void> quiet = new CompletableFuture<>();
    ExecutorService executor = Executors.newFixedThreadPool(WORKERS);
    Map<String, List<Long>> appended = new HashMap<>();
    try (RabbitPublisher publisher =
        TestRabbit.publisher().timeout(Duration.ofSeconds(6)).build()) {
      List<CompletableFuture<Map<String, List<Long>>>> workers = new ArrayList<>();
      for (int w = 0; w < WORKERS; w++) {
        int worker = w;
        workers.add(
            CompletableFuture.supplyAsync(
                () ->
                    work(
                        publisher,
                        exchange,
                        worker,
                        new Random(seed + worker),
                        delivered,
                        last,
                        quiet),
                executor));
      }
      try {
        trouble(rabbit, new Random(seed), delivered, workers);
      } catch (ConditionTimeoutException e) {
        throw new IllegalStateException(standstill(rabbit, delivered, last), e);
      }
      quiet.complete(null);
      for (CompletableFuture<Map<String, List<Long>>> worker : workers) {
        appended.putAll(worker.get(5, TimeUnit.MINUTES));
      }
    } finally {
      quiet.complete(null);
      executor.shutdownNow();
    }
    assertThat(appended).hasSize(WORKERS * KEYS);
    assertThat(TestRabbit.firstArrivals(exchange)).as("seed %d", seed).isEqualTo(appended);
  }

  /** As a relay does: the oldest undelivered messages of its keys, again and again. */
  private static Map<String, List<Long>> work(
      RabbitPublisher publisher,
      String exchange,
      int worker,
      Random random,
      AtomicInteger delivered,
      Map<Integer, Result> last,
      CompletableFuture<Void> quiet) {
    Map<String, List<Long>> appended = new HashMap<>();
    List<StoredMessage> open = new ArrayList<>();
    while (true) {
      boolean enough = quiet.isDone() && delivered.get() >= LEAST;
      for (int i = 0; i < 10 && !enough && open.size() < 1_000; i++) {
        int key = i < KEYS ? i : random.nextInt(KEYS); // each key, however seldom this goes round
        StoredMessage message = stored(message(exchange, "Happened", "w" + worker + "k" + key));
        appended.computeIfAbsent(message.key(), k -> new ArrayList<>()).add(message.sequence());
        open.add(message);
      }
      if (enough && open.isEmpty()) {
        return appended;
      }
      List<StoredMessage> batch = List.copyOf(open.subList(0, Math.min(40, open.size())));
      try {
        List<Result> results = publisher.publish(batch);
        for (int i = batch.size() - 1; i >= 0; i--) {
          Result result = results.get(i);
          last.put(worker, result);
          assertThat(result).isNotInstanceOfAny(Result.Failed.class, Result.Rejected.class);
          if (result instanceof Result.Delivered) {
            open.remove(i);
            delivered.incrementAndGet();
          }
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** What the workers were told last, what each thread does, and what the broker has logged. */
  private static String standstill(
      EmbeddedRabbit rabbit, AtomicInteger delivered, Map<Integer, Result> last)
      throws IOException {
    StringBuilder all = new StringBuilder("%s delivered, last %s".formatted(delivered, last));
    Thread.getAllStackTraces()
        .forEach(
            (thread, stack) -> {
              all.append("\n\n").append(thread);
              Stream.of(stack).limit(20).forEach(frame -> all.append("\n  ").append(frame));
            });
    List<String> log = Files.readAllLines(rabbit.log(), UTF_8);
    log.subList(Math.max(0, log.size() - 100), log.size())
        .forEach(line -> all.append('\n').append(line));
    return all.toString();
  }

  /** Ends early when a worker fails. */
  private static void trouble(
      EmbeddedRabbit rabbit,
      Random random,
      AtomicInteger delivered,
      List<? extends CompletableFuture<?>> workers)
      throws Exception {
    for (int i = 0; i < 3; i++) {
      int before = delivered.get();
      Awaitility.await()
          .atMost(Duration.ofMinutes(3))
          .pollInterval(Duration.ofMillis(5))
          .until(
              () ->
                  delivered.get() >= before + 30
                      || workers.stream().anyMatch(CompletableFuture::isDone));
      if (workers.stream().anyMatch(CompletableFuture::isDone)) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(random.nextInt(200));
      switch (i == 0 ? 0 : random.nextInt(3)) {
        case 0 -> rabbit.kill();
        case 1 -> rabbit.stop();
        default -> {
          rabbit.pause();
          TimeUnit.MILLISECONDS.sleep(random.nextInt(7_000));
          rabbit.resume();
          continue;
        }
      }
      rabbit.restart();
    }
  }
}
