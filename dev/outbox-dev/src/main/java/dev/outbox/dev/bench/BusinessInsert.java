package dev.outbox.dev.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What an application writes in a transaction: one row of four columns. */
final class BusinessInsert implements AutoCloseable {
  private final Connection connection;
  private final PreparedStatement statement;

  /** Begins transactions on the connection. */
  BusinessInsert(Connection connection, String schema) throws SQLException {
    this.connection = connection;
    connection.setAutoCommit(false);
    statement = connection.prepareStatement(sql(schema));
  }

  static String sql(String schema) {
    return "insert into %s.business (customer, amount) values ('customer-1', 1250)"
        .formatted(schema);
  }

  void execute() throws SQLException {
    statement.executeUpdate();
  }

  /** Gives the connection back as it was. */
  @Override
  public void close() {
    try (connection;
        statement) {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      throw new IllegalStateException("a connection cannot be given back: " + e.getMessage(), e);
    }
  }
}
