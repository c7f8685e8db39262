package dev.outbox.spring.modulith;

import static dev.outbox.spring.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.InvalidMessageException;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.spring.Application;
import dev.outbox.spring.EventRecorder;
import dev.outbox.spring.Servers;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.Topic;
import dev.outbox.spring.modulith.orders.Orders;
import dev.outbox.spring.modulith.orders.OrdersApplication;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootVersion;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.core.EventPublicationRegistry;
import org.springframework.util.ClassUtils;

/**
 * An application with Spring Modulith and its registry of publications, on a real PostgreSQL and a
 * real broker. Auto-commit is off in its pool, which hides mistakes.
 */
@ExtendWith(Servers.Resolver.class)
class ModulithTest {
  @AutoClose private static Application application;
  private static Topic topic;

  @BeforeAll
  static void start(Servers servers) throws Exception {
    Schema schema = servers.schema();
    EmbeddedKafka broker = servers.broker();
    topic = Topic.create(broker, schema.name() + ".orders");
    application =
        Application.start(
            schema,
            List.of(OrdersApplication.class),
            "--spring.modulith.events.externalization.mode=outbox",
            "--spring.modulith.events.jdbc.schema-initialization.enabled=true",
            "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
            "--spring.datasource.hikari.auto-commit=false",
            "--outbox.append.application-events=true",
            "--outbox.destination=" + schema.name() + ".{aggregateType}");
    application.execute("create table orders (id text primary key)");
  }

  private static Orders orders() {
    return application.bean(Orders.class);
  }

  private static JdbcTemplate jdbc() {
    return application.jdbc();
  }

  @Test
  void runsOnTheLineThatItIsFor() {
    assertThat(SpringBootVersion.getVersion()).startsWith(System.getProperty("outbox.test.boot"));
  }

  @Test
  void eventsOfOneAggregateArriveInOrderWithItsKey() {
    orders().place("order-1");
    orders().pay("order-1");
    List<ConsumerRecord<String, byte[]>> records =
        ofOrder1(topic.records(all -> ofOrder1(all).size() >= 3));
    assertThat(records)
        .extracting(record -> Topic.header(record, "outbox-event-type"))
        .containsExactly("OrderPlaced", "OrderConfirmed", "OrderPaid");
    assertThat(new String(records.get(0).value(), UTF_8))
        .as("as Boot's mapper writes it")
        .isEqualTo("{\"orderId\":\"order-1\",\"total\":12.50,\"at\":\"2026-01-02T03:04:05Z\"}");
  }

  private static List<ConsumerRecord<String, byte[]>> ofOrder1(
      List<ConsumerRecord<String, byte[]>> records) {
    return records.stream().filter(record -> record.key().equals("order-1")).toList();
  }

  /** Nothing else sends them: Modulith's transport is on the class path, and off. */
  @Test
  void noOtherTransportIsThere() {
    assertThat(application.context().containsBean("kafkaEventExternalizer")).isFalse();
    assertThat(application.context().getBeanNamesForType(EventRecorder.class))
        .containsExactlyInAnyOrder("outboxEventRecorder", "outboxApplicationEvents");
  }

  @OutboxEvent(aggregate = "orders", key = "orderId")
  record OrderMarked(String orderId) {}

  @Test
  void anEventWithBothMarksIsAppendedOnce() {
    application
        .transaction()
        .executeWithoutResult(
            status -> {
              orders().pay("order-6");
              assertThat(messagesOf("order-6")).isOne();
              application.context().publishEvent(new OrderMarked("order-7"));
              assertThat(messagesOf("order-7")).isOne();
              status.setRollbackOnly();
            });
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
    assertThat(application.context().getBeanNamesForType(EventPublicationRegistry.class))
        .hasSize(1);
    assertThat(application.context().containsBean(RegistryWatch.NAME))
        .isEqualTo(ClassUtils.isPresent(RegistryWatch.NAME, null));
    orders().pay("order-5");
    await()
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
    await()
        .until(() -> jdbc().queryForList("select 1 from outbox_message", Integer.class).isEmpty());
  }
}
