package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.store.jdbc.ErrorsTests;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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

  @Test
  @DisplayName("a read-only database user's append, and the caller's connection stays the caller's")
  void readOnly() throws SQLException {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("set transaction read only");
      }
      assertThatThrownBy(() -> store.append(connection, message()))
          .isInstanceOf(OutboxException.class)
          .hasMessageStartingWith(
              "the transaction is read-only, and this needs one that may write");
      assertThat(connection.isClosed()).isFalse();
      connection.rollback();
      assertThat(store.append(connection, message()).allStored()).isTrue();
      connection.rollback();
    }
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
}
