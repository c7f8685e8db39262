package dev.outbox.tck.internal;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Transactions and statements of fixtures on JDBC. */
public final class Jdbc {
  private Jdbc() {}

  /** Commits when {@code work} returns, rolls back and rethrows when it throws. */
  public static void inTransaction(DataSource dataSource, Consumer<Connection> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try {
        work.accept(connection);
        connection.commit();
      } catch (Throwable e) {
        connection.rollback();
        throw e;
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs {@code work} with a connection in auto-commit. */
  public static void withoutTransaction(DataSource dataSource, Consumer<Connection> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(true);
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs each of the statements in a transaction of its own. */
  public static void execute(DataSource dataSource, String... statements) {
    withoutTransaction(
        dataSource,
        connection -> {
          try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
              statement.execute(sql);
            }
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
