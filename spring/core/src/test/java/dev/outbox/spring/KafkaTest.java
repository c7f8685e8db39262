package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.spring.shop.ShopApplication;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
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
    Topic topic = Topic.create(broker, schema.name() + ".order");
    String[] settings = {
      "--shop.recording=false",
      "--outbox.destination=" + schema.name() + ".{aggregateType}",
      "--outbox.relay.lease=6s",
      "--spring.kafka.producer.properties[linger.ms]=60000" // of others: is not taken
    };
    Application one =
        Application.start(
            schema,
            with(settings, "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers()));
    try (Application two =
        Application.start(
            schema,
            List.of(ShopApplication.class),
            new ServiceConnections(schema, broker.bootstrapServers()),
            with(settings, ServiceConnections.WRONG_PROPERTIES))) {
      place(one, two, "a");
      assertInOrder(delivered(topic, ORDERS * 2), "a");

      broker.stop();
      place(one, two, "b");
      await()
          .untilAsserted(
              () -> {
                assertThat(Healths.status(one.context())).isEqualTo("UP");
                assertThat(Healths.broker(one.context())).isNotEqualTo("reachable");
              });
      broker.restart();
      assertInOrder(delivered(topic, ORDERS * 4), "b");
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
      assertInOrder(delivered(topic, ORDERS * 6), "c");
    } finally {
      one.close();
    }
    await().untilAsserted(() -> assertThat(threads(ofOthers)).as("after the stop").isEmpty());
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

  private static String[] with(String[] settings, String... more) {
    return Stream.of(settings, more).flatMap(Stream::of).toArray(String[]::new);
  }

  /** First deliveries; a repetition may come late. */
  private static void assertInOrder(Set<String> records, String name) {
    for (int i = 0; i < ORDERS; i++) {
      String key = name + i;
      assertThat(records)
          .filteredOn(record -> record.startsWith(key + " "))
          .containsExactly(key + " OrderPlaced", key + " OrderPaid");
    }
  }

  /** Keys and event types, until there are so many different ones. */
  private static Set<String> delivered(Topic topic, int count) {
    return distinct(topic.records(records -> distinct(records).size() >= count));
  }

  private static Set<String> distinct(List<ConsumerRecord<String, byte[]>> records) {
    return records.stream()
        .map(record -> record.key() + " " + Topic.header(record, "outbox-event-type"))
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }
}
