package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.Background;
import dev.outbox.store.jdbc.DatabaseTests;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Real deadlocks and lock wait timeouts, which the server counts. */
@ParameterizedClass
@EnumSource
@DisplayName("A transaction that the server gave up is run again")
class MysqlConflictsTest extends DatabaseTests {

  MysqlConflictsTest(Tested tested) {
    super(tested);
  }

  @BeforeEach
  void migrate() {
    store.migrate();
    for (int i = 0; i < 3; i++) {
      database.inTransaction(false, c -> store.append(c, message()));
    }
  }

  private long counted(String metric) {
    return Long.parseLong(
        database.query(
            "select count from information_schema.innodb_metrics where name = '" + metric + "'"));
  }

  private boolean somebodyWaits() {
    return !database
        .query("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")
        .equals("0");
  }

  private Claim claim() {
    Claim claim = store.claim(new Claim.Request("test", 10, 1_000_000, Duration.ofMinutes(5)));
    assertThat(claim.messages()).hasSize(3);
    return claim;
  }

  /** Of the three messages of one key: the first is delivered, the second fails. */
  private static Map<Long, Decision> decisions(Claim claim) {
    return Map.of(
        claim.messages().get(0).sequence(),
        Decision.delivered(),
        claim.messages().get(1).sequence(),
        Decision.retry(Duration.ofHours(1), "again"));
  }

  private void assertSettledOnce(CompletableFuture<Set<Long>> lost) throws Exception {
    assertThat(lost.get(1, TimeUnit.MINUTES)).as("lost").isEmpty();
    assertThat(
            database.query(
                "select group_concat(concat_ws(' ', status, attempts) order by seq) from outbox_message"))
        .isEqualTo("BLOCKED 1,PENDING 0");
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("1");
  }

  @Test
  @DisplayName("inside the library, when its settle was the victim of a deadlock")
  void deadlock() throws Exception {
    Claim claim = claim();
    long before = counted("lock_deadlocks");
    try (Connection other = database.pool.getConnection();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      // What has changed most is not the victim.
      statement.execute(
          "insert into outbox_dedup (dedup_key) select table_name from information_schema.tables"
              + " union select column_name from information_schema.columns");
      statement.execute("update outbox_message set attempts = attempts + 0, last_error = 'x'");
      CompletableFuture<Set<Long>> lost =
          CompletableFuture.supplyAsync(() -> claim.settle(decisions(claim)), Background.THREADS);
      await().atMost(Duration.ofMinutes(1)).until(this::somebodyWaits);
      statement.execute(
          "select token from outbox_bucket where bucket = crc32('order/1') & 63 for update");
      await("a deadlock")
          .atMost(Duration.ofMinutes(1))
          .until(() -> counted("lock_deadlocks") > before);
      other.commit();
      assertSettledOnce(lost);
    }
  }

  @Test
  @DisplayName("inside the library, when its settle has waited for too long")
  void lockWaitTimeout() throws Exception {
    database.close();
    database =
        tested()
            .database(
                config ->
                    config.addDataSourceProperty("sessionVariables", "innodb_lock_wait_timeout=2"));
    store = builder(database.pool).build();
    migrate();
    Claim claim = claim();
    long before = counted("lock_timeouts");
    try (Connection other = database.pool.getConnection();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("update outbox_message set last_error = 'x'");
      CompletableFuture<Set<Long>> lost =
          CompletableFuture.supplyAsync(() -> claim.settle(decisions(claim)), Background.THREADS);
      await().atMost(Duration.ofMinutes(1)).until(() -> counted("lock_timeouts") > before);
      other.rollback();
      assertSettledOnce(lost);
    }
  }

  private static OutboxMessage with(String dedupKey) {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("Placed")
        .payload("{}")
        .dedupKey(dedupKey)
        .build();
  }

  @Test
  @DisplayName("by the caller, when it was the caller's, and it says so")
  void appendDeadlock() throws Exception {
    long before = counted("lock_deadlocks");
    try (Connection one = database.pool.getConnection();
        Connection two = database.pool.getConnection()) {
      for (Connection connection : List.of(one, two)) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      }
      store.append(one, with("a"));
      store.append(two, with("b"));
      CompletableFuture<Appended> first =
          CompletableFuture.supplyAsync(() -> store.append(one, with("b")), Background.THREADS);
      await().atMost(Duration.ofMinutes(1)).until(this::somebodyWaits);
      CompletableFuture<Appended> second =
          CompletableFuture.supplyAsync(() -> store.append(two, with("a")), Background.THREADS);
      assertThatThrownBy(() -> bothAppended(one, two, first, second))
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith(
              "%s gave the transaction up because another held its locks, run it again:",
              tested() == Tested.MYSQL ? "MySQL" : "MariaDB");
    }
    // MariaDB 10.11 counts one twice.
    assertThat(counted("lock_deadlocks")).as("deadlocks").isGreaterThan(before);
    assertThat(database.query("select group_concat(dedup_key order by 1) from outbox_dedup"))
        .as("of the one that was committed")
        .isEqualTo("a,b");
  }

  /** Commits the one that could go on. */
  private static void bothAppended(
      Connection one,
      Connection two,
      CompletableFuture<Appended> first,
      CompletableFuture<Appended> second)
      throws SQLException {
    RuntimeException failure = null;
    for (Connection connection : List.of(one, two)) {
      try {
        Appended appended = (connection == one ? first : second).join();
        assertThat(appended.allStored()).isTrue();
        connection.commit();
      } catch (CompletionException e) {
        failure = (RuntimeException) e.getCause();
        connection.rollback();
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
