package dev.outbox.consumer.kafka;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** One transaction on one connection. */
final class JdbcTransactions implements Transactions<Connection> {
  private final DataSource dataSource;

  JdbcTransactions(DataSource dataSource) {
    this.dataSource = requireNonNull(dataSource, "dataSource");
  }

  @Override
  public void run(Consumer<Connection> work) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        work.accept(connection);
        connection.commit();
      } catch (Throwable e) {
        rollBack(connection, e);
        throw e;
      }
    }
  }

  private static void rollBack(Connection connection, Throwable why) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }
}
