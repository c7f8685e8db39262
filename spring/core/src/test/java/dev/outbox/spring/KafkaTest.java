package dev.outbox.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.spring.shop.ShopApplication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Two instances of an application, on a real database and a real broker that goes and comes; in the
 * end their contexts are stopped and started. One knows both by properties, the other as
 * {@code @ServiceConnection} and Docker Compose say it.
 */
@ExtendWith(Servers.Resolver.class)
class KafkaTest {
  private static final int ORDERS = 20;

  @Test
  void twoInstancesDeliverEachKeyInOrderThroughAnOutageAndARestart(Servers servers)
      throws Exception {
    Set<Thread> ofOthers = Thread.getAllStackTraces().keySet();
    Schema schema = servers.schema();
    EmbeddedKafka broker = servers.broker();
    String topic = schema.name() + ".order";
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
    }
    String[] settings = {
      "--outbox.destination=" + schema.name() + ".{aggregateType}",
      "--outbox.relay.lease=6s",
      "--spring.kafka.producer.properties[linger.ms]=60000" // of others: is not taken
    };
    Application one = Application.startWithKafka(schema, broker.bootstrapServers(), settings);
    try (Application two =
        Application.start(
            schema,
            List.of(ShopApplication.class),
            new ServiceConnections(schema, broker.bootstrapServers()),
            "--spring.main.banner-mode=off",
            Stream.of(settings, ServiceConnections.WRONG_PROPERTIES)
                .flatMap(Stream::of)
                .toArray(String[]::new))) {
      place(one, two, "a");
      assertInOrder(delivered(broker, topic, ORDERS * 2), "a");

      broker.stop();
      place(one, two, "b");
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () -> {
                assertThat(Healths.status(one.context())).isEqualTo("UP");
                assertThat(Healths.broker(one.context())).isNotEqualTo("reachable");
              });
      broker.restart();
      assertInOrder(delivered(broker, topic, ORDERS * 4), "b");
      await().until(() -> one.messages() == 0);
      assertThat(
              one.jdbc().queryForObject("select count(*) from outbox_blocked_key", Integer.class))
          .isZero();

      one.context().stop();
      two.context().stop();
      place(one, two, "c"); // nobody relays
      assertThat(one.messages()).isEqualTo(ORDERS * 2);
      one.context().start();
      two.context().start();
      assertInOrder(delivered(broker, topic, ORDERS * 6), "c");
    } finally {
      one.close();
    }
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(threads(ofOthers)).as("after the stop").isEmpty());
  }

  /** Those of contexts that other tests keep are not meant. */
  private static List<String> threads(Set<Thread> ofOthers) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !ofOthers.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.matches("outbox-.*|kafka-producer.*|.*-housekeeping|.*-publish-.*"))
        .toList();
  }

  private static void place(Application one, Application two, String name) {
    for (int i = 0; i < ORDERS; i++) {
      (i % 2 == 0 ? one : two).shop().place(name + i);
      (i % 2 == 0 ? two : one).shop().pay(name + i);
    }
  }

  /** First deliveries; a repetition may come late. */
  private static void assertInOrder(List<String> records, String name) {
    Map<String, List<String>> byKey = new HashMap<>();
    Set<String> first = new LinkedHashSet<>(records);
    for (String record : first) {
      String[] parts = record.split(" ", -1);
      byKey.computeIfAbsent(parts[0], key -> new ArrayList<>()).add(parts[1]);
    }
    for (int i = 0; i < ORDERS; i++) {
      assertThat(byKey.get(name + i)).as(name + i).containsExactly("OrderPlaced", "OrderPaid");
    }
  }

  /** Keys and event types; reads until there are so many different ones. */
  private static List<String> delivered(EmbeddedKafka broker, String topic, int count) {
    List<String> records = new ArrayList<>();
    Set<String> different = new LinkedHashSet<>();
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new StringDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
      while (different.size() < count && System.nanoTime() < end) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          String type = new String(record.headers().lastHeader("outbox-event-type").value(), UTF_8);
          records.add(record.key() + " " + type);
          different.add(record.key() + " " + type);
        }
      }
    }
    return records;
  }
}
