package dev.outbox.example.readme;

import static dev.outbox.example.readme.Shop.placeOrder;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.consumer.kafka.KafkaInboxConsumer;
import dev.outbox.consumer.kafka.Transactions;
import dev.outbox.embedded.TestServer;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.Test;

/** The first lines that a reader copies, against a real database and a real broker. */
class StartTest {
  private static final String TOPIC = "order";

  private final List<String> shipped = new CopyOnWriteArrayList<>();

  @Test
  void aMessageGoesFromTheTransactionToTheConsumer() throws Exception {
    try (Shop shop = new Shop();
        TestServer broker = TestServer.kafka();
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.address()))) {
      createTopic(admin);
      List<AutoCloseable> started = start(shop.dataSource, broker.address());
      try {
        consume(shop, broker.address());
      } finally {
        for (AutoCloseable one : started) {
          one.close();
        }
        admin.deleteTopics(List.of(TOPIC)).all().get();
      }
      assertThat(shop.state("order-1")).isEqualTo("PLACED");
    }
    assertThat(shipped).containsExactly("{\"total\": 12.50}");
  }

  /** Of the aggregate type's name, as the publisher chooses it. */
  private static void createTopic(Admin admin) throws Exception {
    assumeThat(admin.listTopics().names().get())
        .as("skipped: the broker of outbox.test.kafka.bootstrap has a topic of this name already")
        .doesNotContain(TOPIC);
    admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
  }

  private static List<AutoCloseable> start(DataSource dataSource, String bootstrapServers)
      throws Exception {
    // tag::start
    PostgresOutboxStore outbox = PostgresOutboxStore.of(dataSource);
    outbox.migrate(); // creates the tables unless they are there

    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      placeOrder(connection, "order-1"); // your own change, first
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("order", "order-1")
              .eventType("OrderPlaced")
              .payload("{\"total\": 12.50}")
              .build());
      connection.commit(); // both, or neither
    }

    KafkaPublisher kafka =
        KafkaPublisher.builder().property("bootstrap.servers", bootstrapServers).build();
    Relay relay = Relay.builder(outbox, kafka).build();
    relay.start(); // here or in another process; any number may run
    // end::start
    return List.of(relay, kafka);
  }

  private void consume(Shop shop, String bootstrapServers) {
    DataSource dataSource = shop.dataSource;
    PostgresInboxStore inbox = PostgresInboxStore.of(dataSource);
    inbox.migrate();
    // tag::consumer
    KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", bootstrapServers,
                "group.id", "shipping",
                "enable.auto.commit", "false",
                "auto.offset.reset", "earliest"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    // end::consumer
    // tag::consume
    KafkaInboxConsumer<Connection, String, byte[]> shipping =
        KafkaInboxConsumer.builder(consumer, inbox, Transactions.of(dataSource))
            .name("shipping")
            .topics("order")
            .handler((connection, record) -> ship(connection, record.value()))
            .build();
    new Thread(shipping, "shipping").start(); // until shipping.close()
    // end::consume
    try (shipping) {
      await().atMost(Duration.ofMinutes(2)).until(() -> !shipped.isEmpty());
    }
  }

  private void ship(Connection connection, byte[] order) throws SQLException {
    assertThat(connection.getAutoCommit()).isFalse();
    shipped.add(new String(order, UTF_8));
  }
}
