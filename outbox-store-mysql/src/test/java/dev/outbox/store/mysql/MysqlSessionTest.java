package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxException;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.DatabaseTests;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The application's own connection, without a pool that would put anything back. */
@ParameterizedClass
@EnumSource
@DisplayName("A session has the settings that it had before")
class MysqlSessionTest extends DatabaseTests {
  private final String settings;

  /** In which an update computes each value from the row as it was before. */
  private final String mode;

  private Connection connection;
  private JdbcOutboxStore onOne;
  private String before;

  MysqlSessionTest(Tested tested) {
    super(tested);
    mode = tested == Tested.MARIADB ? "SIMULTANEOUS_ASSIGNMENT" : "TRADITIONAL";
    settings =
        """
        select concat_ws(' ', @@wait_timeout, @@net_write_timeout, @@time_zone, @@%s, @@%s,
          @@autocommit, @@sql_mode, @@innodb_lock_wait_timeout,
          @@sql_safe_updates)
        """
            .formatted(tested.flavor.isolation, tested.flavor.readOnly);
  }

  @Override
  protected void configure(HikariConfig config) {
    config.addDataSourceProperty("sessionVariables", "wait_timeout=4321");
  }

  @BeforeEach
  void openSession() throws SQLException {
    connection = database.pool.getConnection();
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    run("set net_write_timeout = 77, time_zone = '-03:30', innodb_lock_wait_timeout = 1");
    run("set sql_safe_updates = 1, sql_mode = '%s'".formatted(mode));
    onOne = builder(Intercepted.source(this::unclosed)).build();
  }

  private Connection unclosed() {
    return Intercepted.of(
        connection,
        (target, method, arguments) ->
            target == connection && method.getName().equals("close")
                ? null
                : method.invoke(target, arguments));
  }

  @AfterEach
  void closeSession() throws SQLException {
    connection.close();
  }

  private void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private String get(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    }
  }

  /** The settings, and what the next transaction really gets. */
  private String now() throws SQLException {
    boolean autoCommit = connection.getAutoCommit();
    String all = get(settings) + " " + autoCommit;
    connection.setAutoCommit(false);
    get("select count(*) from outbox_schema");
    String next = transaction();
    connection.rollback();
    connection.setAutoCommit(autoCommit);
    return all + " " + next;
  }

  /**
   * The isolation level and access mode of the open transaction, of which the server tells late.
   */
  private String transaction() {
    return await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                get(
                    "select concat(trx_isolation_level, ' ', trx_is_read_only) from information_schema.innodb_trx"
                        + " where trx_mysql_thread_id = connection_id()"),
            Objects::nonNull);
  }

  private void unchangedBy(String what, ThrowingCallable call) throws Throwable {
    call.call();
    assertThat(now()).as("settings after " + what).isEqualTo(before);
  }

  private void unchangedByFailed(String what, ThrowingCallable call) throws SQLException {
    assertThatThrownBy(call).as(what).isInstanceOf(OutboxException.class);
    assertThat(now()).as("settings after " + what + " that failed").isEqualTo(before);
  }

  private void everything() throws Throwable {
    before = now();
    assertThat(before).contains("4321 77 -03:30 ").contains("REPEATABLE READ");
    unchangedBy("verify", onOne::verify);
    unchangedBy("migrate", onOne::migrate);
    unchangedBy("an empty claim", () -> onOne.claim(request()));
    for (int i = 0; i < 3; i++) {
      append(message());
    }
    Claim claim = onOne.claim(request());
    unchangedBy("claim", () -> assertThat(claim.messages()).hasSize(3));
    unchangedBy("renew", () -> claim.renew(Duration.ofMinutes(2)));
    long first = claim.messages().get(0).sequence();
    unchangedBy(
        "settle and claim",
        () -> onOne.settleAndClaim(claim, Map.of(first, Decision.deadHaltingKey("no")), request()));
    unchangedBy("a settle that is too late", () -> claim.settle(Map.of()));
    unchangedBy("dead letters", () -> onOne.deadLetters(0, 10));
    unchangedBy("requeue", () -> assertThat(onOne.requeue(first)).isTrue());
    unchangedBy("discard", () -> onOne.discard(first));
    append(of("later").deliverAfter(Duration.ofHours(1)).build());
    long later = Long.parseLong(database.query("select max(seq) from outbox_message"));
    unchangedBy(
        "cancel", () -> assertThat(onOne.cancel(Set.of(later), null)).isEqualTo(Set.of(later)));
    unchangedBy("statistics", () -> onOne.statistics(10_000));
    unchangedBy("housekeep", onOne::housekeep);
  }

  @Test
  @DisplayName("after each operation")
  void afterEach() throws Throwable {
    everything();
  }

  @Test
  @DisplayName("after each operation, also where auto-commit is off")
  void withoutAutoCommit() throws Throwable {
    connection.setAutoCommit(false);
    everything();
  }

  @Test
  @DisplayName("after an append, which is in the caller's own transaction")
  void append() throws Throwable {
    before = now();
    connection.setAutoCommit(false);
    assertThat(onOne.append(connection, message()).allStored()).isTrue();
    assertThat(transaction()).isEqualTo("REPEATABLE READ 0");
    connection.commit();
    connection.setAutoCommit(true);
    assertThat(now()).isEqualTo(before);
  }

  @Test
  @DisplayName("after operations that failed")
  void failed() throws Throwable {
    append(message());
    onOne.verify();
    before = now();
    Claim claim = onOne.claim(request());
    assertThat(claim.messages()).hasSize(1);
    try (Connection other = database.pool.getConnection();
        Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute("select bucket from outbox_bucket for update");
      unchangedByFailed(
          "a settle that waits for too long, and again",
          () -> claim.settle(Map.of(claim.messages().get(0).sequence(), Decision.delivered())));
      other.rollback();
    }
    database.execute("rename table outbox_message to outbox_gone");
    unchangedByFailed("a claim", () -> onOne.claim(request()));
    unchangedByFailed("statistics", () -> onOne.statistics(10_000));
    unchangedByFailed("dead letters", () -> onOne.deadLetters(0, 1));
    database.execute("rename table outbox_schema to outbox_no_schema");
    assertThatThrownBy(onOne::verify).isInstanceOf(SchemaException.class);
    database.execute("rename table outbox_no_schema to outbox_schema");
    assertThat(now()).isEqualTo(before);
  }
}
