package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The statements for producers in other languages. */
class PlainSqlTest {
  private final Shop shop = new Shop();
  private final Jdbi jdbi = Jdbi.create(shop.dataSource);
  private final PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);

  @BeforeEach
  void createTables() {
    outbox.migrate();
  }

  @AfterEach
  void close() throws Exception {
    shop.close();
  }

  private void run(String region) throws Exception {
    String sql = Regions.in(Path.of("src/test/resources/plain-sql.sql")).get(region);
    try (Connection connection = shop.dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<OutboxMessage> delivered() {
    return RelayOnce.run(outbox, new RecordingPublisher()).delivered().stream()
        .map(StoredMessage::message)
        .toList();
  }

  @Test
  void insert() throws Exception {
    run("insert");
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo("order/order-1");
    assertThat(message.payloadAsString()).isEqualTo("{\"total\": 12.50}");
    assertThat(message.contentType()).isEqualTo("application/json");
  }

  @Test
  void parameters() throws Exception {
    String json = "{\"path\": \"C:\\\\dir\", \"ü\": \"a\\nb\"}";
    String sql = Regions.in(Path.of("src/test/resources/plain-sql.sql")).get("parameters");
    try (Connection connection = shop.dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
      statement.execute("execute pay('order-1', '%s')".formatted(json));
    }
    assertThat(delivered().get(0).payloadAsString()).isEqualTo(json);
  }

  /** The page says so of this driver. */
  @Test
  void textIsNoPayload() throws Exception {
    String sql =
        "insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)"
            + " values ('order', 'order-1', 'OrderPaid', ?)";
    try (Connection connection = shop.dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, "{}");
      assertThatThrownBy(statement::execute)
          .hasMessageContaining("is of type bytea but expression is of type character varying");
    }
  }

  @Test
  void everyField() throws Exception {
    run("full");
    assertThat(delivered()).as("due in 14 days").isEmpty();
    jdbi.useHandle(handle -> handle.execute("update outbox_message set available_at = now()"));
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo("customer-7");
    assertThat(message.headers()).hasSize(2).contains(new Header("tenant", "a"));
    assertThat(message.correlationId()).isEqualTo("request-17");
    assertThat(message.maxAttempts()).isEqualTo(3);
    assertThat(message.availableAt()).isBefore(Instant.now().plus(Duration.ofDays(1)));
    assertThat(message.expiresAt()).isAfter(Instant.now().plus(Duration.ofDays(20)));
  }

  @Test
  void unordered() throws Exception {
    run("unordered");
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo(message.id().toString());
  }

  @Test
  void withDedupKey() throws Exception {
    run("dedup");
    run("dedup");
    assertThat(delivered()).hasSize(1);
    OutboxMessage appended =
        OutboxMessage.builder()
            .aggregate("order", "order-1")
            .eventType("OrderPaid")
            .payload("{}")
            .dedupKey("order-1 paid by request-17")
            .build();
    assertThat(
            jdbi.<Boolean, RuntimeException>inTransaction(
                h -> outbox.append(h.getConnection(), appended).allStored()))
        .as("appended through the library with the same dedup key")
        .isFalse();
  }
}
