package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.core.Rate;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.relay.RoutingPublisher;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SettingsTest {

  @Test
  void aDeadLetterBlocksItsKeyUntilItIsRequeued() throws Exception {
    try (Shop shop = new Shop()) {
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      RecordingPublisher kafka = new RecordingPublisher();
      kafka.answer(message -> Result.rejected("too large"));
      // tag::settings
      Relay relay =
          Relay.builder(outbox, kafka)
              .workers(4)
              .retryPolicy(RetryPolicy.builder().maxAttempts(20).build())
              .haltKeyWhenDead(List.of("account"))
              .build();
      // end::settings
      append(shop, outbox, "opened");
      append(shop, outbox, "closed");
      relay.runOnce();
      assertThat(outbox.statistics(10_000).dead()).isEqualTo(1);
      assertThat(outbox.statistics(10_000).haltedKeys()).isEqualTo(1);
      kafka.clear();
      relay.runOnce();
      assertThat(kafka.delivered()).isEmpty();
      outbox.requeue(outbox.deadLetters(0, 1).get(0).message().sequence());
      relay.runOnce();
      assertThat(kafka.delivered())
          .extracting(stored -> stored.message().eventType())
          .startsWith("opened");
      relay.close();
    }
  }

  @Test
  void aRelayIsToldOfACommit() throws Exception {
    try (Shop shop = new Shop()) {
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      RecordingPublisher kafka = new RecordingPublisher();
      try (Relay relay = Relay.builder(outbox, kafka).build();
          Connection connection = shop.dataSource.getConnection()) {
        relay.start();
        connection.setAutoCommit(false);
        OutboxMessage message = Shop.paid("order-1");
        // tag::committed
        Uncommitted uncommitted = relay.append(outbox, connection, List.of(message));
        connection.commit();
        uncommitted.committed(); // only after a commit that succeeded
        // end::committed
        await().atMost(Duration.ofMinutes(1)).until(() -> !kafka.delivered().isEmpty());
      }
    }
  }

  private static void append(Shop shop, Outbox<Connection> outbox, String eventType)
      throws SQLException {
    try (Connection connection = shop.dataSource.getConnection()) {
      connection.setAutoCommit(false);
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("account", "1")
              .eventType(eventType)
              .payload("{}")
              .build());
      connection.commit();
    }
  }

  @Test
  void messagesGoToTheirPublisher() throws Exception {
    RecordingPublisher kafka = new RecordingPublisher();
    RecordingPublisher partner = new RecordingPublisher();
    // tag::several
    MessagePublisher publisher =
        RoutingPublisher.builder("kafka", kafka)
            .publisher("partner", partner, "invoice", "reminder")
            .timeout(Duration.ofSeconds(20))
            .build();
    // end::several
    try (publisher) {
      List<Result> results = publisher.publish(List.of(message("order", 1), message("invoice", 2)));
      assertThat(results).containsOnly(Result.delivered());
      assertThat(kafka.delivered()).hasSize(1);
      assertThat(partner.delivered()).hasSize(1);
    }
  }

  @Test
  void aDestinationHasALimit() throws Exception {
    RecordingPublisher http = new RecordingPublisher();
    // tag::limits
    MessagePublisher limited =
        LimitedPublisher.builder(http)
            .limit(
                "invoices",
                Rate.perSecond(5),
                message -> message.message().aggregateType().equals("invoice"))
            .build();
    // end::limits
    List<StoredMessage> messages = new ArrayList<>(List.of(message("order", 1)));
    for (int i = 2; i <= 101; i++) {
      messages.add(message("invoice", i));
    }
    try (limited) {
      assertThat(limited.publish(messages).get(0)).isEqualTo(Result.delivered());
      assertThat(http.delivered()).hasSizeLessThan(101);
    }
  }

  private static StoredMessage message(String type, long sequence) {
    return StoredMessage.of(
        sequence,
        0,
        Instant.EPOCH,
        OutboxMessage.builder().aggregate(type, "1").eventType("Made").payload("{}").build());
  }
}
