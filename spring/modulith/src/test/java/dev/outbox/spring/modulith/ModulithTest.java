package dev.outbox.spring.modulith;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.InvalidMessageException;
import dev.outbox.NoTransactionException;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.spring.EventRecorder;
import dev.outbox.spring.Servers;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.modulith.orders.Orders;
import dev.outbox.spring.modulith.orders.OrdersApplication;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.core.EventPublicationRegistry;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ClassUtils;

/**
 * An application with Spring Modulith and its registry of publications, on a real PostgreSQL and a
 * real broker. Auto-commit is off in its pool, which hides mistakes.
 */
@ExtendWith(Servers.Resolver.class)
class ModulithTest {
  private static ConfigurableApplicationContext application;
  private static KafkaConsumer<String, byte[]> consumer;

  @BeforeAll
  static void start(Servers servers) throws Exception {
    Schema schema = servers.schema();
    EmbeddedKafka broker = servers.broker();
    List<String> arguments = new ArrayList<>(schema.arguments());
    arguments.addAll(
        List.of(
            "--spring.modulith.events.externalization.mode=outbox",
            "--spring.modulith.events.jdbc.schema-initialization.enabled=true",
            "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
            "--spring.datasource.hikari.auto-commit=false",
            "--spring.main.banner-mode=off",
            "--logging.level.org.apache.kafka=error",
            "--outbox.schema-mode=migrate",
            "--outbox.append.application-events=true",
            "--outbox.destination=" + schema.name() + ".{aggregateType}"));
    application =
        new SpringApplicationBuilder(OrdersApplication.class)
            .web(WebApplicationType.NONE)
            .run(arguments.toArray(String[]::new));
    new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> jdbc().execute("create table orders (id text primary key)"));
    Map<String, Object> connection = Map.of("bootstrap.servers", broker.bootstrapServers());
    TopicPartition topic = new TopicPartition(schema.name() + ".orders", 0);
    try (Admin admin = Admin.create(connection)) {
      admin.createTopics(List.of(new NewTopic(topic.topic(), 1, (short) 1))).all().get();
    }
    consumer =
        new KafkaConsumer<>(connection, new StringDeserializer(), new ByteArrayDeserializer());
    consumer.assign(List.of(topic));
    consumer.seekToBeginning(List.of(topic));
  }

  @AfterAll
  static void stop() {
    if (consumer != null) {
      consumer.close();
    }
    if (application != null) {
      application.close();
    }
  }

  private static Orders orders() {
    return application.getBean(Orders.class);
  }

  private static JdbcTemplate jdbc() {
    return application.getBean(JdbcTemplate.class);
  }

  /** Of one key, until there are so many. */
  private static List<ConsumerRecord<String, byte[]>> received(String key, int count) {
    List<ConsumerRecord<String, byte[]>> received = new ArrayList<>();
    long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (received.size() < count && System.nanoTime() < end) {
      for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(200))) {
        if (record.key().equals(key)) {
          received.add(record);
        }
      }
    }
    return received;
  }

  private static String type(ConsumerRecord<String, byte[]> record) {
    return new String(record.headers().lastHeader("outbox-event-type").value(), UTF_8);
  }

  private static int messages() {
    return jdbc().queryForObject("select count(*) from outbox_message", Integer.class);
  }

  @Test
  void runsOnTheLineThatItIsFor() {
    assertThat(SpringBootVersion.getVersion()).startsWith(System.getProperty("outbox.test.boot"));
  }

  @Test
  void eventsOfOneAggregateArriveInOrderWithItsKey() {
    orders().place("order-1");
    orders().pay("order-1");
    List<ConsumerRecord<String, byte[]>> records = received("order-1", 3);
    assertThat(records)
        .extracting(record -> record.key() + " " + type(record))
        .containsExactly("order-1 OrderPlaced", "order-1 OrderConfirmed", "order-1 OrderPaid");
    assertThat(new String(records.get(0).value(), UTF_8))
        .as("as Boot's mapper writes it")
        .isEqualTo("{\"orderId\":\"order-1\",\"total\":12.50,\"at\":\"2026-01-02T03:04:05Z\"}");
  }

  /** Nothing else sends them: Modulith's transport is on the class path, and off. */
  @Test
  void noOtherTransportIsThere() {
    assertThat(application.containsBean("kafkaEventExternalizer")).isFalse();
    assertThat(application.getBeanNamesForType(EventRecorder.class))
        .containsExactlyInAnyOrder("outboxEventRecorder", "outboxApplicationEvents");
  }

  @OutboxEvent(aggregate = "orders", key = "orderId")
  record OrderMarked(String orderId) {}

  @Test
  void anEventWithBothMarksIsAppendedOnce() {
    new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> {
              orders().pay("order-6");
              assertThat(messagesOf("order-6")).isOne();
              application.publishEvent(new OrderMarked("order-7"));
              assertThat(messagesOf("order-7")).isOne();
              status.setRollbackOnly();
            });
  }

  @Test
  void rollbackLeavesNothing() {
    assertThatThrownBy(() -> orders().placeAndFail("order-2")).hasMessage("out of stock");
    assertThat(jdbc().queryForList("select id from orders where id = 'order-2'")).isEmpty();
    assertThat(messagesOf("order-2")).isZero();
  }

  @Test
  void withoutATransactionItIsRefused() {
    assertThatThrownBy(() -> orders().payWithoutTransaction("order-3"))
        .isInstanceOf(NoTransactionException.class)
        .hasMessageContaining("OrderPaid goes to the outbox, so publish it in a transaction")
        .hasMessageContaining("@Transactional");
    assertThat(messagesOf("order-3")).isZero();
  }

  private static int messagesOf(String order) {
    return jdbc()
        .queryForObject(
            "select count(*) from outbox_message where aggregate_id = ?", Integer.class, order);
  }

  @Test
  void whatCannotBeExternalizedRollsTheTransactionBack() {
    assertThatThrownBy(() -> orders().lose("order-4"))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("OrderLost cannot be externalized")
        .hasMessageContaining("ordreId");
    assertThat(jdbc().queryForList("select id from orders where id = 'order-4'")).isEmpty();
  }

  /** The registry looks after the listener of another module, and knows nothing of the outbox. */
  @Test
  void modulithsOwnRegistryGoesOnAsBefore() {
    assertThat(application.getBeanNamesForType(EventPublicationRegistry.class)).hasSize(1);
    assertThat(application.containsBean(RegistryWatch.NAME))
        .isEqualTo(ClassUtils.isPresent(RegistryWatch.NAME, null));
    orders().pay("order-5");
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () ->
                assertThat(
                        jdbc()
                            .queryForList(
                                """
                                select listener_id from event_publication
                                where serialized_event like '%order-5%'
                                  and completion_date is not null
                                """,
                                String.class))
                    .singleElement()
                    .asString()
                    .contains("Orders.ship"));
    assertThat(orders().shipped()).contains("order-5");
    assertThat(
            jdbc().queryForList("select distinct listener_id from event_publication", String.class))
        .hasSize(1);
    await().atMost(Duration.ofMinutes(1)).until(() -> messages() == 0);
  }
}
