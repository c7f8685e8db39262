package dev.outbox.consumer.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.TestServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;

/** The database and the broker of all tests of this module; schemas and topics are each test's. */
final class Servers {
  static final int PARTITIONS = 3;

  private static final DatabaseServer database = DatabaseServer.postgres();
  private static final TestServer broker = TestServer.kafka();

  private Servers() {}

  static String bootstrapServers() {
    return broker.address();
  }

  /** A new schema, as the settings that {@link Effects} reads. */
  static Map<String, String> schema() throws SQLException {
    String name = "consumer_" + UUID.randomUUID().toString().substring(0, 8);
    try (Connection connection =
            DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password());
        Statement statement = connection.createStatement()) {
      statement.execute("create schema " + name);
    }
    return Map.of(
        "schema", name,
        "url", database.jdbcUrl(),
        "user", database.user(),
        "password", database.password());
  }

  static String topic() {
    String name = "consumed-" + UUID.randomUUID();
    try (Admin admin = admin()) {
      NewTopic topic = new NewTopic(name, Optional.of(PARTITIONS), Optional.empty());
      admin.createTopics(Set.of(topic)).all().get();
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .ignoreExceptions()
          .until(
              () ->
                  admin
                          .describeTopics(Set.of(name))
                          .allTopicNames()
                          .get()
                          .get(name)
                          .partitions()
                          .size()
                      == PARTITIONS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return name;
  }

  static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", bootstrapServers()));
  }

  /** What a member of the group is made with. */
  static Map<String, Object> settings(String bootstrapServers, String group) {
    return Map.of(
        "bootstrap.servers", bootstrapServers,
        "group.id", group,
        "enable.auto.commit", "false",
        "auto.offset.reset", "earliest",
        "session.timeout.ms", "6000", // the least that a broker allows
        "heartbeat.interval.ms", "500",
        "fetch.max.wait.ms", "20");
  }

  /** The same for {@code group.protocol=consumer}, where the broker says when to be heard. */
  static Map<String, Object> newProtocol(String bootstrapServers, String group) {
    Map<String, Object> settings = new HashMap<>(settings(bootstrapServers, group));
    settings.keySet().removeAll(Set.of("session.timeout.ms", "heartbeat.interval.ms"));
    settings.put("group.protocol", "consumer");
    return settings;
  }

  static KafkaConsumer<String, String> consumer(String group) {
    return new KafkaConsumer<>(
        settings(bootstrapServers(), group), new StringDeserializer(), new StringDeserializer());
  }

  /**
   * Sends records whose value is their id.
   *
   * @param ids in the header; null: without one
   */
  static void send(String topic, int partition, List<String> ids) {
    send(bootstrapServers(), topic, partition, ids);
  }

  static void send(String bootstrapServers, String topic, int partition, List<String> ids) {
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers),
            new StringSerializer(),
            new StringSerializer())) {
      for (String id : ids) {
        ProducerRecord<String, String> record =
            new ProducerRecord<>(topic, partition, "key", id == null ? "no id" : id);
        if (id != null) {
          record.headers().add(KafkaInboxConsumer.ID_HEADER, id.getBytes(UTF_8));
        }
        producer.send(record);
      }
    }
  }
}
