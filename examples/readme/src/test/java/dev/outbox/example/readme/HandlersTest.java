package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.InboxKey;
import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.publisher.handler.MessageHandler;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.relay.RoutingPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What docs/handlers.md shows. */
class HandlersTest {
  private static final int MESSAGES = 1_000;
  private static final int KEYS = 50;

  private final Shop shop = new Shop();
  private final DataSource dataSource = shop.dataSource;
  private final PostgresOutboxStore outbox = PostgresOutboxStore.of(dataSource);
  private final PostgresInboxStore inbox = PostgresInboxStore.of(dataSource);
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());

  record OrderPaid(String order, String address) {}

  @BeforeEach
  void createTables() {
    outbox.migrate();
    inbox.migrate();
    Jdbi.create(dataSource)
        .useHandle(
            handle ->
                handle.execute(
                    "create table bookings (place bigserial, account text, amount int)"));
  }

  @AfterEach
  void close() throws Exception {
    shop.close();
  }

  private void append(String key, String eventType, String payload) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("account", key)
              .eventType(eventType)
              .payload(payload)
              .build());
      connection.commit();
    }
  }

  @Test
  void handlersAreCalled() throws SQLException {
    ObjectMapper json = new ObjectMapper();
    // tag::handlers
    HandlerPublisher handlers =
        HandlerPublisher.builder()
            .on("OrderPlaced", message -> confirm(message.message().aggregateId()))
            .on(
                "OrderPaid",
                message -> {
                  byte[] payload = message.message().payload();
                  ship(json.readValue(payload, OrderPaid.class));
                })
            .neverRetryOn(JacksonException.class) // such a payload stays unreadable
            .build();
    Relay relay = Relay.builder(outbox, handlers).build();
    relay.start();
    // end::handlers
    append("1", "OrderPlaced", "{}");
    append("1", "OrderPaid", "no JSON");
    append("1", "OrderPaid", "{\"order\": \"1\", \"address\": \"here\"}");
    await().until(() -> done.equals(List.of("confirmed 1", "shipped to here")));
    relay.close();
    handlers.close();
  }

  private void confirm(String order) {
    done.add("confirmed " + order);
  }

  private void ship(OrderPaid paid) {
    done.add("shipped to " + paid.address());
  }

  @Test
  void aBrokerHasTheRest() throws SQLException {
    MessagePublisher kafka =
        messages -> {
          messages.forEach(message -> done.add("kafka " + message.message().eventType()));
          return Collections.nCopies(messages.size(), Result.delivered());
        };
    HandlerPublisher handlers =
        HandlerPublisher.builder().on("OrderPlaced", message -> done.add("handled")).build();
    // tag::routing
    MessagePublisher both =
        RoutingPublisher.builder("kafka", kafka)
            .publisher(
                "handlers", handlers, message -> message.message().eventType().equals("OrderPlaced"))
            .build();
    // end::routing
    append("1", "OrderPlaced", "{}");
    append("1", "OrderPaid", "{}");
    try (Relay relay = Relay.builder(outbox, both).build()) {
      relay.start();
      await().until(() -> done.equals(List.of("handled", "kafka OrderPaid")));
    }
    both.close();
  }

  @Test
  void oneChangeHasSeveralTargets() throws SQLException {
    MessagePublisher kafka =
        messages -> {
          messages.forEach(message -> done.add("kafka " + message.message().key()));
          return Collections.nCopies(messages.size(), Result.delivered());
        };
    HandlerPublisher handlers =
        HandlerPublisher.builder()
            .onAggregate(
                "order-mail",
                message -> {
                  throw new IOException("the mail server is ill");
                })
            .build();
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      outbox.append(
          connection,
          List.of(
              placed("order"), // to the broker
              placed("order-mail"))); // to its handler
      connection.commit();
    }
    RetryPolicy once = RetryPolicy.builder().maxAttempts(1).build();
    MessagePublisher both =
        RoutingPublisher.builder("kafka", kafka)
            .publisher("handlers", handlers, "order-mail")
            .build();
    try (Relay relay = Relay.builder(outbox, both).retryPolicy(once).build()) {
      relay.start();
      await().until(() -> outbox.statistics(10).dead() == 1);
    }
    both.close();
    assertThat(done).containsExactly("kafka order/order-1");
    assertThat(outbox.deadLetters(0, 10))
        .singleElement()
        .satisfies(letter -> assertThat(letter.message().key()).isEqualTo("order-mail/order-1"));
  }

  private static OutboxMessage placed(String aggregateType) {
    return OutboxMessage.builder()
        .aggregate(aggregateType, "order-1")
        .eventType("OrderPlaced")
        .payload("{\"total\": 12.50}")
        .build();
  }

  @Test
  void effectsHappenOnceAndInOrder() throws SQLException {
    long seed = Long.getLong("outbox.seed", System.nanoTime());
    System.out.println("HandlersTest: run again with -Doutbox.seed=" + seed);
    Random random = new Random(seed);
    Map<String, List<Integer>> expected = new LinkedHashMap<>();
    for (int i = 0; i < MESSAGES; i++) {
      String account = "a" + random.nextInt(KEYS);
      append(account, "Booked", "" + i);
      expected.computeIfAbsent(account, key -> new ArrayList<>()).add(i);
    }
    AtomicInteger runs = new AtomicInteger();
    try (HandlerPublisher handlers =
            HandlerPublisher.builder()
                .on(
                    "Booked",
                    message -> {
                      runs.incrementAndGet();
                      goesWrong(random);
                      booking().handle(message);
                      goesWrong(random); // the effects are there, and it comes again
                    })
                .timeout(Duration.ofSeconds(1))
                .concurrency(5)
                .build();
        Relay relay =
            Relay.builder(outbox, handlers)
                .retryPolicy(
                    RetryPolicy.builder()
                        .maxAttempts(100)
                        .firstDelay(Duration.ofMillis(1))
                        .maxDelay(Duration.ofMillis(10))
                        .build())
                .build()) {
      relay.start();
      await()
          .atMost(Duration.ofMinutes(3))
          .until(() -> count("bookings") == MESSAGES && count("outbox_message") == 0);
    }
    assertThat(bookings()).isEqualTo(expected);
    assertThat(runs).hasValueGreaterThan(MESSAGES);
  }

  private MessageHandler booking() {
    return message -> {
      InboxKey key = new InboxKey("booking", message.message().id().toString());
      try (Connection connection = dataSource.getConnection()) {
        connection.setAutoCommit(false);
        try {
          if (inbox.firstTime(connection, key)) {
            book(connection, message.message()); // your effects, in this database
          }
          connection.commit(); // the effects and the record of them, or neither
        } catch (Exception e) {
          connection.rollback();
          throw e;
        }
      }
    };
  }

  private static void book(Connection connection, OutboxMessage message) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into bookings (account, amount) values (?, ?)")) {
      insert.setString(1, message.aggregateId());
      insert.setInt(2, Integer.parseInt(new String(message.payload())));
      insert.executeUpdate();
    }
  }

  private static void goesWrong(Random random) throws Exception {
    int dice = random.nextInt(1_000);
    if (dice < 3) {
      new CountDownLatch(1).await(); // hangs
    } else if (dice < 30) {
      throw new IOException("at random");
    } else if (dice < 40) {
      throw new StackOverflowError();
    }
  }

  private int count(String table) {
    return Jdbi.create(dataSource)
        .withHandle(
            handle -> handle.createQuery("select count(*) from " + table).mapTo(int.class).one());
  }

  private Map<String, List<Integer>> bookings() {
    Map<String, List<Integer>> bookings = new LinkedHashMap<>();
    Jdbi.create(dataSource)
        .useHandle(
            handle ->
                handle
                    .createQuery("select account, amount from bookings order by place")
                    .mapToMap()
                    .forEach(
                        row ->
                            bookings
                                .computeIfAbsent((String) row.get("account"), k -> new ArrayList<>())
                                .add((Integer) row.get("amount"))));
    return bookings;
  }
}
