package dev.outbox.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedKafka;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The packaged jar in processes of its own, on a real database and a real broker. Each order that
 * is placed over HTTP takes its articles from the stock once, and has its mails once and in order.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ShopProcessTest {
  /** What is the same on each line of Boot; 3.5 leaves it out. */
  private static final String ONCE = "once";

  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static DatabaseServer database;
  private static EmbeddedKafka broker;
  private static JdbcTemplate jdbc;
  private static Instance one;
  private static Instance two;

  @BeforeAll
  static void start() {
    database = DatabaseServer.postgres();
    broker = EmbeddedKafka.start();
    jdbc =
        new JdbcTemplate(
            new DriverManagerDataSource(database.jdbcUrl(), database.user(), database.password()));
    one = instance();
    two = instance();
    one.awaitReady();
    two.awaitReady();
  }

  private static Instance instance() {
    return Instance.start(
        List.of(
            "--spring.datasource.url=" + database.jdbcUrl(),
            "--spring.datasource.username=" + database.user(),
            "--spring.datasource.password=" + database.password(),
            "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
            "--logging.level.org.apache.kafka=error", // a line for each try during an outage
            "--outbox.relay.lease=6s"));
  }

  @AfterAll
  static void stop() throws Exception {
    for (AutoCloseable each : new AutoCloseable[] {one, two, broker, database}) {
      if (each != null) {
        each.close();
      }
    }
  }

  @Test
  @Order(1)
  void twoInstancesShareTheWork() throws Exception {
    try (Customers customers = Customers.of(one, two)) {
      customers.order(20);
      awaitEffects(customers);
    }
    String order =
        jdbc.queryForObject("select id from orders where state = 'PAID' limit 1", String.class);
    assertThat(two.get("/orders/" + order))
        .contains("We have your order", "Your parcel is on its way");
    assertThat(one.get("/actuator/health")).contains("\"outbox\":{", "\"broker\":\"reachable\"");
    assertThat(one.get("/actuator/metrics") + two.get("/actuator/metrics"))
        .contains("outbox.delivered", "outbox.oldest.age");
  }

  /** Its commit fails, after the message was appended. */
  @Test
  @Tag(ONCE)
  @Order(2)
  void anOrderThatIsRolledBackIsNotHeardOf() throws Exception {
    jdbc.execute(
        """
        create function refuse() returns trigger language plpgsql as
          $$ begin raise exception 'no credit'; end $$;
        create constraint trigger refuse after insert on orders deferrable initially deferred
          for each row when (new.customer = 'broke@example.org') execute function refuse();
        """);
    assertThat(one.post("/orders", order("broke@example.org")).statusCode()).isEqualTo(500);
    assertThat(one.post("/orders", order("ada@example.org")).statusCode()).isEqualTo(201);
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(published()).contains("ada@example.org"));
    assertThat(published()).doesNotContain("broke@example.org");
    assertThat(jdbc.queryForList("select customer from orders", String.class))
        .contains("ada@example.org")
        .doesNotContain("broke@example.org");
  }

  /** Sent again, to another instance, as by a customer who got no answer. */
  @Test
  @Tag(ONCE)
  @Order(2)
  void anOrderThatIsSentTwiceIsPlacedOnce() throws Exception {
    HttpResponse<String> first = one.post("/orders", order("twice@example.org"), "key-1");
    HttpResponse<String> second = two.post("/orders", order("twice@example.org"), "key-1");
    assertThat(first.statusCode()).isEqualTo(second.statusCode()).isEqualTo(201);
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(second.headers().firstValue("Location"))
        .isEqualTo(first.headers().firstValue("Location"))
        .isPresent();
    assertThat(
            jdbc.queryForList(
                "select id from orders where customer = 'twice@example.org'", String.class))
        .hasSize(1);
    assertThat(two.post("/orders", order("ada@example.org"), "key-1").statusCode()).isEqualTo(422);
  }

  private static String order(String customer) {
    return "{\"customer\": \"%s\", \"article\": \"tea\", \"quantity\": 1}".formatted(customer);
  }

  /** The payloads of all records of the topic. */
  private static String published() {
    Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers());
    StringDeserializer text = new StringDeserializer();
    StringBuilder published = new StringBuilder();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, text, text)) {
      List<TopicPartition> partitions =
          consumer.partitionsFor("order").stream()
              .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (ends.entrySet().stream()
          .anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
        consumer
            .poll(Duration.ofMillis(100))
            .forEach(record -> published.append(record.value()).append('\n'));
      }
    }
    return published.toString();
  }

  @Test
  @Tag(ONCE)
  @Order(3)
  void aBrokerThatIsAwayIsWaitedFor() throws Exception {
    broker.stop();
    try (Customers customers = Customers.of(one, two)) {
      customers.order(20);
      assertThat(customers.refused()).isZero();
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(one.get("/actuator/health"))
                      .contains("\"relay\":\"running\"")
                      .doesNotContain("\"broker\":\"reachable\"", "DOWN"));
      broker.restart();
      awaitEffects(customers);
    }
  }

  @Test
  @Order(4)
  void anInstanceThatStopsAtWorkLosesNothingAndComesBack() throws Exception {
    try (Customers customers = Customers.of(one, two)) {
      customers.orderUntilClosed();
      customers.awaitOrders(20);
      assertStopsClean(one);
      customers.awaitOrders(20); // the other one works on
      one.close();
      one = instance().awaitReady();
      customers.replace(0, one);
      customers.awaitOrders(20);
      assertStopsClean(two);
      customers.awaitOrders(20);
      customers.close();
      awaitEffects(customers);
    }
    assertStopsClean(one);
  }

  private static void assertStopsClean(Instance instance) {
    long begin = System.nanoTime();
    assertThat(instance.terminate()).isEqualTo(128 + 15);
    System.out.printf("stopped after %d ms%n", (System.nanoTime() - begin) / 1_000_000);
    assertThat(instance.said())
        .contains("Graceful shutdown complete")
        // What Spring says when something did not stop in time.
        .doesNotContain("still running after timeout")
        .doesNotContainPattern("ERROR .* dev\\.outbox");
  }

  /** The database is the judge: what customers were told is there, and each order has its mails. */
  private static void awaitEffects(Customers customers) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(jdbc.queryForList("select id from outbox_message")).isEmpty();
              assertThat(orders("PAID")).containsAll(customers.paid());
              assertThat(mails()).isEqualTo(expectedMails());
              assertThat(jdbc.queryForList("select article, taken from stock order by 1"))
                  .isEqualTo(
                      jdbc.queryForList(
                          "select article, sum(quantity)::int as taken from orders group by 1 order by 1"));
            });
  }

  private static List<String> orders(String state) {
    return jdbc.queryForList("select id from orders where state = ?", String.class, state);
  }

  private static List<Map<String, Object>> mails() {
    return jdbc.queryForList(
        "select order_id, string_agg(subject, ', ' order by id) as mails from mail group by 1 order by 1");
  }

  private static List<Map<String, Object>> expectedMails() {
    return jdbc.queryForList(
        """
        select id as order_id, case state
          when 'PAID' then 'We have your order, Your parcel is on its way'
          else 'We have your order' end as mails
        from orders order by 1
        """);
  }
}
