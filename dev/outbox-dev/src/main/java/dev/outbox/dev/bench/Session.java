package dev.outbox.dev.bench;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * One connection for what is done beside the measured work, made when it is needed first: a pod
 * never needs it, and many servers allow 100 in all. Safe for use by many threads.
 */
final class Session implements AutoCloseable {
  /** Makes a connection. */
  interface Connecting {
    Connection connect() throws SQLException;
  }

  private final String database;
  private final Connecting connecting;
  private @Nullable Connection connection;

  /**
   * @param database its name, for errors
   */
  Session(String database, Connecting connecting) {
    this.database = database;
    this.connecting = connecting;
  }

  synchronized Connection connection() throws SQLException {
    if (connection == null) {
      connection = connecting.connect();
    }
    return connection;
  }

  void execute(String sql) {
    try {
      run(sql);
    } catch (SQLException e) {
      throw failed(sql, e);
    }
  }

  synchronized void run(String sql) throws SQLException {
    try (Statement statement = connection().createStatement()) {
      statement.execute(sql);
    }
  }

  long number(String sql) {
    return Long.parseLong(text(sql));
  }

  /** The first column of the first row; "null" when there is none. */
  String text(String sql) {
    return text(sql, 1);
  }

  /** Another column of the first row. */
  synchronized String text(String sql, int column) {
    try (Statement statement = connection().createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? String.valueOf(rows.getString(column)) : "null";
    } catch (SQLException e) {
      throw failed(sql, e);
    }
  }

  IllegalStateException failed(String what, SQLException e) {
    return new IllegalStateException(
        "%s refused (%s): %s".formatted(database, what.strip(), e.getMessage()), e);
  }

  @Override
  public synchronized void close() throws SQLException {
    if (connection != null) {
      connection.close();
    }
  }
}
