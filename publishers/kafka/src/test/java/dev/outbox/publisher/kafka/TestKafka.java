package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.TestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.opentest4j.TestAbortedException;

/** The broker that all tests of this module share; topics are each test's own. */
final class TestKafka {
  static final int PARTITIONS = 3;

  private static final TestServer server =
      TestServer.kafka(Map.of("auto.create.topics.enable", "false"));

  private TestKafka() {}

  static String bootstrapServers() {
    return server.address();
  }

  /** The broker as one that can be stopped. */
  static EmbeddedServer embedded() {
    return server
        .embedded()
        .orElseThrow(
            () -> new TestAbortedException("skipped: only the embedded broker can be stopped"));
  }

  static KafkaPublisher.Builder publisher() {
    return KafkaPublisher.builder().property("bootstrap.servers", bootstrapServers());
  }

  /** A new topic, with settings of its own. */
  static String topic(Map<String, String> settings) {
    String name = "test-" + UUID.randomUUID();
    create(bootstrapServers(), name, settings);
    return name;
  }

  /**
   * A broker that has just been resumed is fenced for a moment, and creates no topics; and a busy
   * one knows of a topic only a moment after it was created.
   */
  static void create(String bootstrap, String name, Map<String, String> settings) {
    NewTopic topic = new NewTopic(name, Optional.of(PARTITIONS), Optional.empty());
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptionsMatching(e -> e.getCause() instanceof InvalidReplicationFactorException)
          .untilAsserted(() -> admin.createTopics(Set.of(topic.configs(settings))).all().get());
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptionsMatching(e -> e.getCause() instanceof UnknownTopicOrPartitionException)
          .until(() -> hasLeaders(admin.describeTopics(Set.of(name)).topicNameValues().get(name)));
    }
  }

  private static boolean hasLeaders(KafkaFuture<TopicDescription> topic) throws Exception {
    return topic.get().partitions().stream()
        .allMatch(partition -> partition.leader() != null && !partition.leader().isEmpty());
  }

  /** All records of the topics, of each partition the oldest first. */
  static List<ConsumerRecord<byte[], byte[]>> read(Collection<String> topics) {
    return read(bootstrapServers(), topics);
  }

  static List<ConsumerRecord<byte[], byte[]>> read(String bootstrap, Collection<String> topics) {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", bootstrap),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          topics.stream()
              .flatMap(t -> consumer.partitionsFor(t).stream())
              .map(p -> new TopicPartition(p.topic(), p.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
      long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
      while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("after 2 minutes the records do not end at " + ends);
        }
        consumer.poll(Duration.ofMillis(200)).forEach(records::add);
      }
      return records;
    }
  }

  static String header(ConsumerRecord<byte[], byte[]> record, String name) {
    Header header = record.headers().lastHeader(name);
    return header == null ? null : new String(header.value(), UTF_8);
  }

  /** The sequences that a consumer finds in the topic, in its order. */
  static List<Long> sequences(String topic) {
    return read(List.of(topic)).stream()
        .map(r -> Long.valueOf(header(r, "outbox-sequence")))
        .toList();
  }
}
