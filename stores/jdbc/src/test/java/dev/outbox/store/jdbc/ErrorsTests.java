package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What every relational store says when something is wrong. */
public abstract class ErrorsTests extends DatabaseTests {
  protected static final String PASSWORD = "s3cret-Passw0rd";

  /** The database's name in error texts. */
  private final String name;

  protected ErrorsTests(TestedStore tested, String name) {
    super(tested);
    this.name = name;
  }

  /** A store without a pool, whose user has {@link #PASSWORD}. */
  protected final JdbcOutboxStore storeAt(String url, String user) {
    return builder(Intercepted.source(() -> DriverManager.getConnection(url, user, PASSWORD)))
        .build();
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  @DisplayName("a URL where nobody listens")
  void nobodyListens() throws IOException {
    String url =
        database.server().jdbcUrl().replaceFirst("//[^/?;]*", "//127.0.0.1:" + closedPort());
    JdbcOutboxStore store = storeAt(url, "somebody");
    assertThatThrownBy(() -> store.claim(request()))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith(
            "no connection to %s: is it running, is the URL right, is the pool large enough?", name)
        .hasMessageNotContaining(PASSWORD);
    assertThatThrownBy(store::migrate)
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("no connection to " + name)
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  @DisplayName("a user that does not exist")
  void noUser() {
    refused(storeAt(database.server().jdbcUrl(), "no_such_user"));
  }

  /** Asserts that the server refuses the store's connections. */
  protected final void refused(JdbcOutboxStore store) {
    assertThatThrownBy(() -> store.claim(request()))
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith(
            "%s refused the connection, check user, password and database:", name)
        .hasMessageNotContaining(PASSWORD);
  }

  @Test
  @DisplayName("a pool that is used up, and nothing is lost")
  void exhaustedPool() throws SQLException {
    try (TestDatabase small =
        tested()
            .database(
                config -> {
                  config.setMaximumPoolSize(1);
                  config.setConnectionTimeout(250);
                })) {
      JdbcOutboxStore store = builder(small.pool).build();
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
}
