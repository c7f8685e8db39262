package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@DisplayName("One sentence each, and no password, for")
class ErrorsTest extends DatabaseTest {
  private static final String PASSWORD = "s3cret-Passw0rd";

  @BeforeEach
  void migrate() {
    store.migrate();
  }

  private static PostgresOutboxStore storeAt(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    dataSource.setUser(server.user());
    dataSource.setPassword(PASSWORD);
    return PostgresOutboxStore.of(dataSource);
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  @DisplayName("a URL where nobody listens")
  void nobodyListens() throws IOException {
    PostgresOutboxStore store = storeAt("jdbc:postgresql://127.0.0.1:" + closedPort() + "/x");
    assertThatThrownBy(() -> store.claim(request()))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith(
            "no connection to PostgreSQL: is it running, is the URL right, is the pool large enough?")
        .hasMessageNotContaining(PASSWORD);
    assertThatThrownBy(store::migrate)
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("no connection to PostgreSQL")
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  @DisplayName("a database that does not exist")
  void noDatabase() {
    String url = server.jdbcUrl().replaceFirst("/[^/?]*(\\?.*)?$", "/no_such_database");
    assertThatThrownBy(() -> storeAt(url).claim(request()))
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith(
            "PostgreSQL refused the connection, check user, password and database:")
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  @DisplayName("a pool that is used up, and nothing is lost")
  void exhaustedPool() throws SQLException {
    try (Database small =
        new Database(
            server,
            config -> {
              config.setMaximumPoolSize(1);
              config.setConnectionTimeout(250);
            })) {
      PostgresOutboxStore store = PostgresOutboxStore.of(small.pool);
      store.migrate();
      small.inTransaction(false, c -> store.append(c, message()));
      try (Connection held = small.pool.getConnection()) {
        assertThat(held.isClosed()).isFalse();
        assertThatThrownBy(() -> store.claim(request()))
            .isInstanceOf(TransientOutboxException.class)
            .hasMessageContaining("is the pool large enough?");
      }
      assertThat(store.claim(request()).messages()).hasSize(1);
      assertThat(store.maxConnections()).hasValue(1);
    }
  }

  @Test
  @DisplayName("a read-only database user's append, and the caller's connection stays the caller's")
  void readOnly() throws SQLException {
    HikariDataSource pool = database.pool;
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("set transaction read only");
      }
      assertThatThrownBy(() -> store.append(connection, message()))
          .isInstanceOf(OutboxException.class)
          .hasMessageStartingWith("the transaction is read-only, append needs one that may write");
      assertThat(connection.isClosed()).isFalse();
      connection.rollback();
      assertThat(store.append(connection, message())).isTrue();
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
