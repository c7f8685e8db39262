package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    if (database != null) { // there was none to test with
      database.close();
    }
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

  /** An expression: some days ago. */
  protected final String daysAgo(int days) {
    return tested.earlier(tested.now(), Duration.ofDays(days).toMillis());
  }

  protected static OutboxMessage message() {
    return message("{}".getBytes(StandardCharsets.UTF_8));
  }

  protected static OutboxMessage message(byte[] payload) {
    return of("1").payload(payload).build();
  }

  protected static OutboxMessage message(String key) {
    return of(key).build();
  }

  /** A message about the order with this key, to which a test adds what it is about. */
  public static OutboxMessage.Builder of(String key) {
    return OutboxMessage.builder().aggregate("order", key).eventType("Placed").payload("{}");
  }

  protected final void append(OutboxMessage... messages) {
    append(List.of(messages));
  }

  /** In a transaction of their own. */
  protected final void append(List<OutboxMessage> messages) {
    database.inTransaction(false, c -> assertThat(store.append(c, messages).allStored()).isTrue());
  }

  protected static Claim.Request request() {
    return new Claim.Request("test", 10, 1_000_000, Duration.ofMinutes(1));
  }

  /** One kind of decision after the other. */
  protected static Map<Long, Decision> inTurn(Claim claim, Decision... kinds) {
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      decisions.put(message.sequence(), kinds[decisions.size() % kinds.length]);
    }
    return decisions;
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
