package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Warnings of PostgreSQL")
class OldTransactionsTest {

  private static List<String> warnings(HikariDataSource pool, Duration old) {
    Jdbi jdbi = Jdbi.create(pool);
    jdbi.getConfig(SqlStatements.class).setTemplateEngine(TemplateEngine.NOP);
    return jdbi.withHandle(handle -> OldTransactions.warnings(handle, old));
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
        assertThat(store.warnings()).as("of less than a minute").isEmpty();
        assertThat(warnings(pool, Duration.ZERO))
            .satisfiesExactlyInAnyOrder(
                prepared ->
                    assertThat(prepared)
                        .startsWith("a prepared transaction, 'it''s old' of user postgres")
                        .contains("claims get slower"),
                session ->
                    assertThat(session)
                        .contains("(application 'report') has had a transaction open for")
                        .contains("pg_terminate_backend("));
        read.execute("rollback");
        prepare.execute("rollback prepared 'it''s old'");
      }
      assertThat(warnings(pool, Duration.ZERO)).isEmpty();
    }
  }
}
