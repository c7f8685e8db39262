package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.spi.store.Finding;
import dev.outbox.store.jdbc.internal.ServerChecks;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Findings on PostgreSQL")
class OldTransactionsTest {

  private static List<String> warnings(HikariDataSource pool, Duration old) {
    Jdbi jdbi = Jdbi.create(pool);
    jdbi.getConfig(SqlStatements.class).setTemplateEngine(TemplateEngine.NOP);
    return jdbi.withHandle(
        handle -> OldTransactions.findings(handle, old).stream().map(Finding::text).toList());
  }

  /** What is said of a server whose clock is so many milliseconds ahead. */
  private static String clock(HikariDataSource pool, int ahead) {
    ServerChecks checks =
        new ServerChecks(
            "select '', '' where false",
            "select (extract(epoch from clock_timestamp()) * 1000)::bigint + " + ahead,
            Map.of());
    return Jdbi.create(pool)
        .withHandle(
            handle ->
                checks.findings(handle).stream()
                    .filter(one -> !one.isFine())
                    .map(Finding::text)
                    .collect(Collectors.joining()));
  }

  @Test
  @DisplayName(
      "name a clock that is another one, and settings that lose commits or leave rows, and what sets them right")
  void settings() throws SQLException {
    try (EmbeddedPostgres server = EmbeddedPostgres.start();
        HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(server.jdbcUrl());
      pool.setUsername(server.user());
      pool.setPassword(server.password());
      PostgresOutboxStore store = PostgresOutboxStore.of(pool);
      store.migrate();
      assertThat(Findings.wrong(store)).isEmpty();
      assertThat(clock(pool, 3_600_000)).containsPattern("clock is (3599|3600) s ahead of this");
      assertThat(clock(pool, -3_600_000)).containsPattern("clock is (3599|3600) s behind this");
      try (Connection connection = pool.getConnection();
          Statement mend = connection.createStatement()) {
        for (String name : List.of("fsync", "synchronous_commit", "autovacuum")) {
          mend.execute("alter system set %s = off".formatted(name));
        }
        mend.execute("select pg_reload_conf()");
        await()
            .untilAsserted(
                () ->
                    assertThat(Findings.wrong(store))
                        .satisfiesExactlyInAnyOrder(
                            fsync -> assertThat(fsync).startsWith("fsync is off: a crash of the "),
                            commit -> assertThat(commit).startsWith("synchronous_commit is off: "),
                            vacuum -> assertThat(vacuum).startsWith("autovacuum is off: ")));
        for (Finding one : store.findings()) {
          if (one.remedy() != null) {
            for (String statement : one.remedy().split(";")) {
              mend.execute(statement);
            }
          }
        }
      }
      await().untilAsserted(() -> assertThat(Findings.wrong(store)).isEmpty());
    }
  }

  @Test
  @DisplayName("name a forgotten prepared transaction and an open snapshot, and no young ones")
  void oldTransactions() throws SQLException {
    try (EmbeddedPostgres server =
            EmbeddedPostgres.builder().setting("max_prepared_transactions", "5").start();
        HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(server.jdbcUrl());
      pool.setUsername(server.user());
      pool.setPassword(server.password());
      pool.setMinimumIdle(0); // a session that begins has a transaction, too
      PostgresOutboxStore store = PostgresOutboxStore.of(pool);
      store.migrate();
      assertThat(warnings(pool, Duration.ZERO)).isEmpty();
      try (Connection open = pool.getConnection();
          Connection snapshot = pool.getConnection();
          Statement prepare = open.createStatement();
          Statement read = snapshot.createStatement()) {
        prepare.execute("begin; select pg_current_xact_id(); prepare transaction 'it''s old'");
        read.execute("set application_name = 'report'");
        read.execute("begin isolation level repeatable read; select 1");
        assertThat(warnings(pool, Duration.ofDays(1))).isEmpty();
        assertThat(Findings.wrong(store)).as("of less than a minute").isEmpty();
        assertThat(warnings(pool, Duration.ZERO))
            .satisfiesExactlyInAnyOrder(
                prepared ->
                    assertThat(prepared)
                        .startsWith("a prepared transaction, 'it''s old' of user postgres")
                        .contains("claims get slower")
                        .contains(": rollback prepared 'it''s old'; "),
                session ->
                    assertThat(session)
                        .contains("(application 'report') has had a transaction open for")
                        .contains(": select pg_terminate_backend("));
        read.execute("rollback");
        prepare.execute("rollback prepared 'it''s old'");
      }
      assertThat(warnings(pool, Duration.ZERO)).isEmpty();
    }
  }
}
