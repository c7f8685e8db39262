package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.ErrorsTests;
import dev.outbox.store.jdbc.internal.Server.Trouble;
import dev.outbox.store.jdbc.internal.TableKind;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

@DisplayName("One sentence each, and no password, for")
class ErrorsTest extends ErrorsTests {
  ErrorsTest() {
    super(new Postgres(), "PostgreSQL");
  }

  @Test
  @DisplayName("a database that does not exist")
  void noDatabase() {
    String url = database.server().jdbcUrl().replaceFirst("/[^/?]*(\\?.*)?$", "/no_such_database");
    refused(storeAt(url, database.server().user()));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "53100, PostgreSQL has no disk space or memory left for this",
    "53200, PostgreSQL has no disk space or memory left for this",
    "53300, no connection to PostgreSQL: is it running",
    "57P03, no connection to PostgreSQL: is it running",
    "57014, 'PostgreSQL ended the statement or the connection, as after a time limit'",
    "57P01, the connection to PostgreSQL was lost: the server was stopped or has crashed",
    "57P02, the connection to PostgreSQL was lost: the server was stopped or has crashed",
    "08006, the connection to PostgreSQL was lost: the server was stopped or has crashed",
  })
  @DisplayName("what passes")
  void passes(String state, String sentence) {
    database.execute(
        """
        create function refuse() returns trigger language plpgsql as $$
          begin raise exception 'boom' using errcode = '%s'; end $$
        """
            .formatted(state),
        "create trigger refuse before update on outbox_bucket execute function refuse()");
    assertThatThrownBy(() -> store.claim(request()))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageContaining("boom")
        .hasMessageContaining("(SQLSTATE %s)", state);
  }

  @Test
  @DisplayName("an append after the caller's transaction has failed")
  void failedTransaction() throws SQLException {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        assertThatThrownBy(() -> statement.execute("select 1/0")).isInstanceOf(SQLException.class);
      }
      assertThatThrownBy(() -> store.append(connection, message()))
          .isInstanceOf(OutboxException.class)
          .hasMessageStartingWith("the transaction has failed already, roll it back:");
      connection.rollback();
    }
  }

  @Test
  @DisplayName("a row that a policy refuses, in whatever language the server says so")
  void refusedInGerman() {
    PostgresServer server =
        new PostgresServer(new PrefixedNames(null, "outbox_"), TableKind.OUTBOX, new Pooler(false));
    PSQLException refused =
        new PSQLException(
            new ServerErrorMessage(
                "SFEHLER\0C42501\0Mneue Zeile verletzt Policy für Sicherheit auf Zeilenebene für Tabelle »outbox_message«\0RExecWithCheckOptions\0"));
    SQLException inBatch = new BatchUpdateException("", "42501", 0, new int[0], refused);
    for (SQLException failure : List.of(refused, inBatch)) {
      assertThat(server.trouble(failure)).isEqualTo(Trouble.OTHER);
      assertThat(server.advice(failure)).startsWith("let the table's policies pass all rows");
    }
  }
}
