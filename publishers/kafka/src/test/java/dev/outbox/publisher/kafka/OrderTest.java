package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.kafka.TestKafka.sequences;
import static dev.outbox.publisher.kafka.TestKafka.topic;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many records of a key in flight, and what happens when one of them fails. */
class OrderTest {
  private static final byte[] SMALL = {1};

  /** More than the topics of these tests take; the client lets it pass, the broker refuses it. */
  private static final byte[] TOO_LARGE = new byte[5_000];

  private final Timing timing = Timing.of(Duration.ofMinutes(1));
  private final String topic = topic(Map.of("max.message.bytes", "2000"));
  private ProducerHolder holder;
  private KafkaPublisher publisher = publisher(Map.of());

  @AfterEach
  void close() {
    publisher.close();
  }

  private KafkaPublisher publisher(Map<String, Object> more) {
    Map<String, Object> given = new HashMap<>(more);
    given.put("bootstrap.servers", TestKafka.bootstrapServers());
    ProducerSettings settings = new ProducerSettings(given, timing);
    WallClock clock = WallClock.system();
    holder =
        new ProducerHolder(() -> new KafkaProducer<>(settings.plain()), settings::scrub, clock);
    Records records = RecordsTest.records();
    return new KafkaPublisher(
        holder, holder, new PublisherParts(new Cluster(settings, clock), records, timing));
  }

  private Connection connection() {
    try {
      return holder.get(timing.deadline());
    } catch (NoConnectionException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void use(Map<String, Object> more) {
    publisher.close();
    publisher = publisher(more);
  }

  private List<StoredMessage> messages(int count, String key) {
    return messages(count, topic, key);
  }

  private static List<StoredMessage> messages(int count, String topic, String key) {
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      messages.add(stored(message(topic, key).payload(SMALL)));
    }
    return messages;
  }

  private double metric(String name) {
    return connection().producer().metrics().values().stream()
        .filter(m -> m.metricName().group().equals("producer-metrics"))
        .filter(m -> m.metricName().name().equals(name))
        .mapToDouble(m -> (double) m.metricValue())
        .sum();
  }

  @Test
  @DisplayName("a key with many messages needs few requests")
  void together() throws Exception {
    // How many records are there when a request is sent depends on which thread has a processor,
    // and on how often the broker refuses a batch that is split then.
    use(Map.of("linger.ms", 200));
    String roomy = topic(Map.of());
    assertThat(publisher.publish(messages(1, roomy, "k"))).containsOnly(Result.delivered());
    double before = metric("request-total");
    List<StoredMessage> messages = messages(500, roomy, "k");
    assertThat(publisher.publish(messages)).containsOnly(Result.delivered());
    assertThat(metric("request-total") - before).isLessThan(100);
    assertThat(sequences(roomy))
        .endsWith(messages.stream().map(StoredMessage::sequence).toArray(Long[]::new));
  }

  @Test
  @DisplayName("a failure with others behind it costs the producer once, not each time")
  void risky() throws Exception {
    Connection first = connection();
    List<StoredMessage> messages = messages(5, "a");
    assertThat(publisher.publish(messages)).containsOnly(Result.delivered());
    assertThat(first.isCurrent()).isTrue();

    messages.set(2, stored(message(topic, "a").payload(TOO_LARGE)));
    messages.addAll(messages(5, "b"));
    List<Result> results = publisher.publish(messages);
    assertThat(results.get(2)).isInstanceOf(Result.Rejected.class);
    assertThat(results.subList(3, 5)).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(results.subList(5, 10)).containsOnly(Result.delivered());
    assertThat(first.isCurrent()).isFalse();

    Connection second = connection();
    assertThat(publisher.publish(messages)).isEqualTo(results);
    assertThat(second.isCurrent()).isTrue();
  }

  @Test
  @DisplayName("a failure with none of its key behind it leaves the producer as it is")
  void alone() throws Exception {
    Connection first = connection();
    List<StoredMessage> messages = messages(5, "a");
    messages.add(stored(message(topic, "b").payload(TOO_LARGE)));
    List<Result> results = publisher.publish(messages);
    assertThat(results.subList(0, 5)).containsOnly(Result.delivered());
    assertThat(results.get(5)).isInstanceOf(Result.Rejected.class);
    assertThat(first.isCurrent()).isTrue();
  }

  @Test
  @DisplayName("a key that goes to two topics is sent one topic after the other")
  void twoTopics() throws Exception {
    String other = topic(Map.of());
    List<StoredMessage> messages = messages(3, "k");
    messages.add(stored(message(other, "k")));
    messages.add(stored(message(topic, "k").payload(TOO_LARGE)));
    messages.add(stored(message(other, "k")));
    List<Result> results = publisher.publish(messages);
    assertThat(results.subList(0, 4)).containsOnly(Result.delivered());
    assertThat(results.get(4)).isInstanceOf(Result.Rejected.class);
    assertThat(results.get(5)).isInstanceOf(Result.Unavailable.class);
    assertThat(sequences(other)).containsExactly(messages.get(3).sequence());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 500, 64 * 1024})
  @DisplayName("whatever fails where, of each key what arrives is what stood before the failure")
  void random(int batchSize) throws Exception {
    long seed = Long.getLong("outbox.test.seed", System.nanoTime());
    System.out.println("batch.size=" + batchSize + ", outbox.test.seed=" + seed);
    List<Long> expected = new ArrayList<>();
    for (int round = 0; round < 12; round++) {
      use(Map.of("batch.size", batchSize)); // a new producer, to which no topic is risky
      List<CompletableFuture<List<Long>>> workers = new ArrayList<>();
      for (int worker = 0; worker < 3; worker++) {
        String prefix = "r" + round + "w" + worker + "k";
        Random random = new Random(seed + 31 * round + worker);
        workers.add(CompletableFuture.supplyAsync(() -> publishWithFailures(prefix, random)));
      }
      for (CompletableFuture<List<Long>> worker : workers) {
        expected.addAll(worker.join());
      }
    }
    List<Long> arrived = sequences(topic);
    assertThat(arrived.stream().distinct().toList())
        .as("seed %d", seed)
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  /** Returns the sequences that must arrive. */
  private List<Long> publishWithFailures(String prefix, Random random) {
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      byte[] payload = random.nextInt(20) == 0 ? TOO_LARGE : SMALL;
      messages.add(stored(message(topic, prefix + random.nextInt(5)).payload(payload)));
    }
    List<Result> results;
    try {
      results = publisher.publish(messages);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    Map<String, Boolean> failed = new HashMap<>();
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      StoredMessage message = messages.get(i);
      boolean large = message.message().payload().length > SMALL.length;
      if (failed.containsKey(message.key())) {
        assertThat(results.get(i)).isInstanceOf(Result.Unavailable.class);
      } else if (large) {
        assertThat(results.get(i)).isInstanceOf(Result.Rejected.class);
        failed.put(message.key(), true);
      } else {
        assertThat(results.get(i)).isEqualTo(Result.delivered());
        expected.add(message.sequence());
      }
    }
    return expected;
  }
}
