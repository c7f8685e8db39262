package dev.outbox.debezium.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.embedded.TestServer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A topic, and all that has arrived in it. Not for use by several threads. */
final class Topic implements AutoCloseable {
  static final int PARTITIONS = 5;
  private static final int LARGE = 2_000;

  final String name;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions;

  /** By id, in the order of the first arrivals. */
  private final Map<String, Arrived> first = new LinkedHashMap<>();

  private final Set<String> different = new LinkedHashSet<>();
  private int records;

  /**
   * Everything of a record that its consumer sees, but its time and its offset.
   *
   * @param headers name and bytes, in their order
   */
  record Arrived(int partition, String key, String value, List<String> headers) {

    static Arrived of(ConsumerRecord<byte[], byte[]> record) {
      List<String> headers = new ArrayList<>();
      for (Header header : record.headers()) {
        headers.add(header.key() + "=" + hex(header.value()));
      }
      return new Arrived(record.partition(), hex(record.key()), hex(record.value()), headers);
    }

    /** Of what is large the hash, so that many can be kept. */
    private static String hex(byte[] bytes) {
      if (bytes == null) {
        return "null";
      }
      boolean large = bytes.length > LARGE;
      return (large ? bytes.length + " bytes: " : "")
          + HexFormat.of().formatHex(large ? hash(bytes) : bytes);
    }

    private static byte[] hash(byte[] bytes) {
      try {
        return MessageDigest.getInstance("SHA-256").digest(bytes);
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  Topic(TestServer kafka) {
    name = "debezium-" + UUID.randomUUID();
    Map<String, Object> settings = Map.of("bootstrap.servers", kafka.address());
    try (Admin admin = Admin.create(settings)) {
      NewTopic topic = new NewTopic(name, Optional.of(PARTITIONS), Optional.empty());
      admin.createTopics(Set.of(topic)).all().get();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", kafka.address(),
                "auto.offset.reset", "earliest",
                "enable.auto.commit", "false",
                "fetch.max.wait.ms", "50"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    partitions = IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(name, p)).toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Reads on for a moment. */
  Topic read() {
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
      records++;
      Arrived arrived = Arrived.of(record);
      String id = new String(record.headers().lastHeader("outbox-id").value(), UTF_8);
      Arrived before = first.putIfAbsent(id, arrived);
      if (before != null && !before.equals(arrived)) {
        different.add(id);
      }
    }
    return this;
  }

  /** Reads all that is there by now. */
  Topic readToEnd() {
    Map<TopicPartition, Long> end = consumer.endOffsets(partitions);
    while (!partitions.stream().allMatch(p -> consumer.position(p) >= end.get(p))) {
      read();
    }
    return this;
  }

  /** By id, in the order of the first arrivals in each partition. */
  Map<String, Arrived> first() {
    return first;
  }

  /** Ids of records that came again and were not the same. */
  Set<String> different() {
    return different;
  }

  /** With the repetitions. */
  int records() {
    return records;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
