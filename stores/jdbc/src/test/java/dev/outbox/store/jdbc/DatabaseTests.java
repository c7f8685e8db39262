package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** For each test a schema of its own, with the outbox's tables. */
public abstract class DatabaseTests {
  private final TestedStore tested;
  protected TestDatabase database;
  protected JdbcOutboxStore store;

  protected DatabaseTests(TestedStore tested) {
    this.tested = tested;
  }

  @BeforeEach
  void openDatabase() {
    database = tested.database(this::configure);
    store = builder(database.pool).build();
    if (hasTables()) {
      database.run(store.ddl());
      store.verify();
    }
  }

  @AfterEach
  void closeDatabase() {
    database.close();
  }

  /**
   * Whether the tables are there, by the script: Liquibase takes several times as long. {@link
   * SchemaTests} compares both.
   */
  protected boolean hasTables() {
    return true;
  }

  /** Changes the pool's settings. */
  protected void configure(HikariConfig config) {}

  protected final TestedStore tested() {
    return tested;
  }

  protected final JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return tested.builder(dataSource);
  }

  protected static OutboxMessage message() {
    return message("{}".getBytes(StandardCharsets.UTF_8));
  }

  protected static OutboxMessage message(byte[] payload) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload(payload)
        .build();
  }

  protected static Claim.Request request() {
    return new Claim.Request("test", 10, 1_000_000, Duration.ofMinutes(1));
  }

  /** Delivers all that is due; in the order of the sequences. */
  protected final List<OutboxMessage> delivered() {
    List<StoredMessage> all = new ArrayList<>();
    Claim claim = store.claim(request());
    while (!claim.messages().isEmpty()) {
      all.addAll(claim.messages());
      claim.settle(all(claim, Decision.delivered()));
      claim = store.claim(request());
    }
    return all.stream()
        .sorted(Comparator.comparingLong(StoredMessage::sequence))
        .map(StoredMessage::message)
        .toList();
  }
}
