package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/**
 * A server for the class, and for each test a schema of its own with a store that is not migrated.
 */
abstract class DatabaseTest {
  static DatabaseServer server;
  Database database;
  PostgresOutboxStore store;

  @BeforeAll
  static void startServer() {
    server = DatabaseServer.postgres();
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @BeforeEach
  void openDatabase() {
    database = new Database(server, this::configure);
    store = PostgresOutboxStore.of(database.pool);
  }

  @AfterEach
  void closeDatabase() {
    database.close();
  }

  /** Changes the pool's settings. */
  void configure(HikariConfig config) {}

  static OutboxMessage message() {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload("{}")
        .build();
  }

  static ClaimRequest request() {
    return new ClaimRequest("test", 10, 1_000_000, Duration.ofMinutes(1));
  }
}
