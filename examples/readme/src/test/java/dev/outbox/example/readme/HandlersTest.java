package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.handler.HandlerPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.relay.RoutingPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What docs/handlers.md shows. */
class HandlersTest {
  private final Shop shop = new Shop();
  private final DataSource dataSource = shop.dataSource;
  private final PostgresOutboxStore outbox = PostgresOutboxStore.of(dataSource);
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());

  record OrderPaid(String order, String address) {}

  @BeforeEach
  void createTables() {
    outbox.migrate();
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
}
