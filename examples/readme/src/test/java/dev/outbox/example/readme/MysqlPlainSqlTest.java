package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mysql.cj.jdbc.MysqlDataSource;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.mysql.MysqlOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The statements for producers in other languages, on MySQL. */
class MysqlPlainSqlTest {
  private final DatabaseServer server = DatabaseServer.mysql();
  private final String schema = "readme_" + UUID.randomUUID().toString().substring(0, 8);
  private final MysqlDataSource dataSource = new MysqlDataSource();
  private final MysqlOutboxStore outbox = MysqlOutboxStore.of(dataSource);

  @BeforeEach
  void createTables() throws Exception {
    dataSource.setUrl(server.jdbcUrl());
    dataSource.setUser(server.user());
    dataSource.setPassword(server.password());
    execute("create database " + schema);
    dataSource.setDatabaseName(schema);
    outbox.migrate();
  }

  @AfterEach
  void close() throws Exception {
    execute("drop database " + schema);
    server.close();
  }

  private void execute(String... statements) throws Exception {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private void run(String region) throws Exception {
    execute(
        Regions.in(Path.of("src/test/resources/plain-sql-mysql.sql")).get(region).split(";\n", -1));
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
  }

  @Test
  void everyField() throws Exception {
    run("full");
    assertThat(delivered()).as("due in 14 days").isEmpty();
    execute("update outbox_message set available_at = utc_timestamp(6), place = default");
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo("customer-7");
    assertThat(message.maxAttempts()).isEqualTo(3);
    assertThat(message.expiresAt()).isAfter(message.availableAt());
    assertThat(message.payload()).containsExactly(10, 7, '1', '2', '.', '5', '0');
    assertThat(message.headers()).hasSize(2).contains(new Header("tenant", "a"));
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
    assertThatThrownBy(() -> run("dedup"))
        .isInstanceOf(SQLIntegrityConstraintViolationException.class);
    assertThat(delivered()).hasSize(1);
  }
}
