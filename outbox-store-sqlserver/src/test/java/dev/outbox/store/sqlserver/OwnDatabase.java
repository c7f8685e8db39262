package dev.outbox.store.sqlserver;

import dev.outbox.embedded.DatabaseServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.opentest4j.TestAbortedException;

/** A server with a database of its own, because an option of it is tested. */
final class OwnDatabase implements DatabaseServer {
  private final DatabaseServer server;
  private final String name;

  /**
   * @param readCommittedSnapshot the option READ_COMMITTED_SNAPSHOT
   */
  OwnDatabase(DatabaseServer server, boolean readCommittedSnapshot) {
    this.server = server;
    name = Database.freshName();
    try {
      administer(
          "create database " + name,
          "alter database %s set read_committed_snapshot %s"
              .formatted(name, readCommittedSnapshot ? "on" : "off"));
    } catch (SQLException e) {
      server.close();
      throw new TestAbortedException("skipped: the user may not create databases", e);
    }
  }

  String name() {
    return name;
  }

  private void administer(String... statements) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  @Override
  public String jdbcUrl() {
    return server.jdbcUrl();
  }

  @Override
  public String user() {
    return server.user();
  }

  @Override
  public String password() {
    return server.password();
  }

  @Override
  public void close() {
    try {
      administer(
          "alter database %s set single_user with rollback immediate".formatted(name),
          "drop database " + name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } finally {
      server.close();
    }
  }
}
