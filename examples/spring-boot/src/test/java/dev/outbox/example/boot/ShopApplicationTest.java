package dev.outbox.example.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.TestServer;
import java.math.BigDecimal;
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
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The application on a real database and a real broker, with the versions that Boot manages. */
class ShopApplicationTest {
  private static final String TOPIC = "order";

  private static DatabaseServer database;
  private static TestServer broker;

  @BeforeAll
  static void startServers() throws Exception {
    database = DatabaseServer.postgres();
    broker = TestServer.kafka();
    try (Admin admin = Admin.create(kafka())) {
      admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
    }
  }

  @AfterAll
  static void stopServers() throws Exception {
    if (broker != null) {
      broker.close();
    }
    if (database != null) {
      database.close();
    }
  }

  private static Map<String, Object> kafka() {
    return Map.of("bootstrap.servers", broker.address());
  }

  private static ConfigurableApplicationContext start(String... more) {
    List<String> arguments = new ArrayList<>(List.of(more));
    arguments.add("--spring.datasource.url=" + database.jdbcUrl());
    arguments.add("--spring.datasource.username=" + database.user());
    arguments.add("--spring.datasource.password=" + database.password());
    arguments.add("--spring.kafka.bootstrap-servers=" + broker.address());
    return new SpringApplicationBuilder(ShopApplication.class)
        .web(WebApplicationType.NONE)
        .run(arguments.toArray(String[]::new));
  }

  @Test
  void whatIsCommittedIsPublishedAndNothingElse() throws InterruptedException {
    try (ConfigurableApplicationContext context = start()) {
      JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
      jdbc.execute("create table orders (id text primary key, total numeric not null)");
      Orders orders = context.getBean(Orders.class);

      orders.place("order-1", new BigDecimal("12.50"));
      assertThatThrownBy(() -> placeAndFail(context, "order-2")).hasMessage("out of stock");
      orders.place("order-3", new BigDecimal("7"));
      jdbc.execute("create table sent (id text, text text)");
      new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
          .executeWithoutResult(status -> context.getBean(JoinedOutbox.class).append(mail()));

      assertThat(published(2))
          .containsExactlyInAnyOrder("order-1 {\"total\": 12.50}", "order-3 {\"total\": 7}");
      assertThat(jdbc.queryForList("select id from orders order by id", String.class))
          .containsExactly("order-1", "order-3");
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .untilAsserted(
              () ->
                  assertThat(jdbc.queryForList("select id || text from sent", String.class))
                      .containsExactly("order-3: it is on its way"));
    }
    for (Thread thread : started()) {
      thread.join(Duration.ofMinutes(1).toMillis()); // some close a client, and end by themselves
    }
    assertThat(started())
        .as("what the relay and the publisher started, after their beans were closed")
        .isEmpty();
  }

  /** A handler of the application has it, and not the broker. */
  private static OutboxMessage mail() {
    return OutboxMessage.builder()
        .aggregate("order", "order-3")
        .eventType("OrderMail")
        .payload("{\"to\": \"me@shop.example\", \"text\": \": it is on its way\"}")
        .build();
  }

  /** After its message was appended. */
  private static void placeAndFail(ConfigurableApplicationContext context, String id) {
    new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status -> {
              context.getBean(Orders.class).place(id, BigDecimal.ONE);
              throw new IllegalStateException("out of stock");
            });
  }

  private static List<Thread> started() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread.getName().startsWith("outbox-")
                    || thread.getName().startsWith("kafka-producer"))
        .toList();
  }

  /** Records of the topic, in order; waits for as many. */
  private static List<String> published(int count) {
    List<String> published = new ArrayList<>();
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(kafka(), new StringDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = List.of(new TopicPartition(TOPIC, 0));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
      while (published.size() < count && System.nanoTime() < end) {
        for (ConsumerRecord<String, byte[]> record : consumer.poll(Duration.ofMillis(200))) {
          published.add(record.key() + " " + new String(record.value(), UTF_8));
        }
      }
    }
    return published;
  }
}
