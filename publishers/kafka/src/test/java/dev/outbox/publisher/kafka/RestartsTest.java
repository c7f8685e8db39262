package dev.outbox.publisher.kafka;

import static dev.outbox.publisher.kafka.TestKafka.header;
import static dev.outbox.publisher.kafka.TestMessages.message;
import static dev.outbox.publisher.kafka.TestMessages.stored;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Hot keys while the broker is killed, stopped and paused; an oracle reads back what arrived. */
class RestartsTest {
  private static final int WORKERS = 2;
  private static final int KEYS = 3;
  private static final int LEAST = 300;

  @ParameterizedTest
  @EnumSource
  @DisplayName("each key arrives in order and whole, whatever happens to the broker")
  void ordered(KafkaPublisherTest.Mode mode) throws Exception {
    EmbeddedKafka kafka = TestKafka.embedded();
    long seed = Long.getLong("outbox.test.seed", System.nanoTime());
    System.out.println(mode + ", outbox.test.seed=" + seed);
    String topic = TestKafka.topic(Map.of());
    AtomicInteger delivered = new AtomicInteger();
    CompletableFuture<Void> quiet = new CompletableFuture<>();
    ExecutorService executor = Executors.newFixedThreadPool(WORKERS);
    Map<String, List<Long>> appended = new HashMap<>();
    try (KafkaPublisher publisher =
        mode.in(TestKafka.publisher()).timeout(Duration.ofSeconds(6)).build()) {
      List<CompletableFuture<Map<String, List<Long>>>> workers = new ArrayList<>();
      for (int w = 0; w < WORKERS; w++) {
        int worker = w;
        workers.add(
            CompletableFuture.supplyAsync(
                () -> work(publisher, topic, worker, new Random(seed + worker), delivered, quiet),
                executor));
      }
      trouble(kafka, new Random(seed), delivered);
      quiet.complete(null);
      for (CompletableFuture<Map<String, List<Long>>> worker : workers) {
        appended.putAll(worker.get(5, TimeUnit.MINUTES));
      }
    } finally {
      quiet.complete(null);
      executor.shutdownNow();
    }
    assertThat(appended).hasSize(WORKERS * KEYS);
    assertThat(firstDeliveries(topic)).as("seed %d", seed).isEqualTo(appended);
  }

  /** As a relay does: the oldest undelivered messages of its keys, again and again. */
  private static Map<String, List<Long>> work(
      KafkaPublisher publisher,
      String topic,
      int worker,
      Random random,
      AtomicInteger delivered,
      CompletableFuture<Void> quiet) {
    Map<String, List<Long>> appended = new HashMap<>();
    List<StoredMessage> open = new ArrayList<>();
    while (true) {
      boolean last = quiet.isDone() && delivered.get() >= LEAST;
      for (int i = 0; i < 10 && !last; i++) {
        int key = i < KEYS ? i : random.nextInt(KEYS); // each key, however seldom this goes round
        StoredMessage message = stored(message(topic, "w" + worker + "k" + key));
        appended.computeIfAbsent(message.key(), k -> new ArrayList<>()).add(message.sequence());
        open.add(message);
      }
      if (last && open.isEmpty()) {
        return appended;
      }
      List<StoredMessage> batch = List.copyOf(open.subList(0, Math.min(40, open.size())));
      try {
        List<Result> results = publisher.publish(batch);
        for (int i = batch.size() - 1; i >= 0; i--) {
          Result result = results.get(i);
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

  private static void trouble(EmbeddedKafka kafka, Random random, AtomicInteger delivered)
      throws Exception {
    for (int i = 0; i < 3; i++) {
      int before = delivered.get();
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
      while (delivered.get() < before + 30 && System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      assertThat(delivered.get()).as("deliveries go on after trouble %d", i).isGreaterThan(before);
      TimeUnit.MILLISECONDS.sleep(random.nextInt(200));
      switch (i == 0 ? 0 : random.nextInt(3)) {
        case 0 -> kafka.kill();
        case 1 -> kafka.stop();
        default -> {
          kafka.pause();
          TimeUnit.MILLISECONDS.sleep(random.nextInt(7_000));
          kafka.resume();
          continue;
        }
      }
      kafka.restart();
    }
  }

  private static Map<String, List<Long>> firstDeliveries(String topic) {
    Map<String, List<Long>> first = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> record : TestKafka.read(List.of(topic))) {
      List<Long> ofKey =
          first.computeIfAbsent(new String(record.key(), UTF_8), k -> new ArrayList<>());
      Long sequence = Long.valueOf(header(record, "outbox-sequence"));
      if (!ofKey.contains(sequence)) {
        ofKey.add(sequence);
      }
    }
    return first;
  }
}
