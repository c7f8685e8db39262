package dev.outbox.dev.torture;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A Kafka: topics with some partitions, and a group of consumers. */
final class KafkaBroker implements Broker {
  private static final int PARTITIONS = 4;
  private static final Duration POLL = Duration.ofMillis(200);

  private final String bootstrapServers;

  KafkaBroker(String bootstrapServers) {
    this.bootstrapServers = bootstrapServers;
  }

  static Started start(TcpProxy proxy) {
    EmbeddedKafka kafka =
        EmbeddedKafka.builder()
            .setting("auto.create.topics.enable", "false")
            .advertisedPort(proxy.port())
            .start();
    proxy.target(kafka.port());
    return new Started(kafka, "127.0.0.1:" + proxy.port());
  }

  private Map<String, Object> with(Map<String, ?> more) {
    Map<String, Object> settings = new HashMap<>(more);
    settings.put("bootstrap.servers", bootstrapServers);
    settings.put("reconnect.backoff.max.ms", 500);
    return settings;
  }

  private KafkaConsumer<String, byte[]> consumer(Map<String, ?> settings) {
    return new KafkaConsumer<>(
        with(settings), new StringDeserializer(), new ByteArrayDeserializer());
  }

  @Override
  public void createTopics() throws InterruptedException {
    Map<String, String> settings = Map.of("max.message.bytes", "" + Work.MOST_BYTES);
    List<NewTopic> topics =
        Broker.topics().stream()
            .map(t -> new NewTopic(t, Optional.of(PARTITIONS), Optional.empty()).configs(settings))
            .toList();
    try (Admin admin = Admin.create(with(Map.of()))) {
      admin.createTopics(topics).all().get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("no topics: " + e.getCause(), e);
    }
  }

  @Override
  public MessagePublisher publisher(Duration timeout) {
    return KafkaPublisher.builder().properties(with(Map.of())).timeout(timeout).build();
  }

  @Override
  public void consume(BooleanSupplier ending, Consumer<Delivery> got) {
    Map<String, Object> settings =
        Map.of(
            "group.id", "torture",
            "auto.offset.reset", "earliest",
            "session.timeout.ms", 6_000,
            "heartbeat.interval.ms", 1_000,
            "auto.commit.interval.ms", 500);
    while (!ending.getAsBoolean()) {
      try (KafkaConsumer<String, byte[]> consumer = consumer(settings)) {
        consumer.subscribe(Broker.topics());
        while (!ending.getAsBoolean()) {
          consumer.poll(POLL).forEach(record -> got.accept(Delivery.of(record)));
        }
      } catch (KafkaException e) {
        System.err.println("once more, after " + e);
      }
    }
  }

  @Override
  public List<Delivery> readLog() {
    List<Delivery> log = new ArrayList<>();
    try (KafkaConsumer<String, byte[]> consumer = consumer(Map.of())) {
      List<TopicPartition> partitions =
          Broker.topics().stream()
              .flatMap(t -> IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(t, p)))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.getOrDefault(p, 0L))) {
        consumer.poll(POLL).forEach(record -> log.add(Delivery.of(record)));
      }
    }
    return log;
  }
}
