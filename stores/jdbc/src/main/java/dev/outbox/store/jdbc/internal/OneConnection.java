package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Transactions;
import java.sql.Connection;
import java.time.Duration;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Gives the same connection each time, and keeps it open until the transactions are closed.
 *
 * @param closed called then
 */
record OneConnection(Connection connection, Runnable closed) implements ConnectionFactory {

  @Override
  public Connection openConnection() {
    return connection;
  }

  /** A handle is closed after each transaction. */
  @Override
  public void closeConnection(Connection unclosed) {}

  /**
   * @param transactions on this connection
   */
  Transactions<Handle> inTransactions(JdbcTransactions transactions) {
    return new Transactions<>() {
      @Override
      public <R extends @Nullable Object> R run(Duration patience, Work<Handle, R> work) {
        return transactions.run(patience, work);
      }

      @Override
      public <R extends @Nullable Object> R runSingle(Duration patience, Work<Handle, R> work) {
        return transactions.forClaim().runSingle(patience, work);
      }

      @Override
      public void abandon() {
        JdbcTransactions.abandon(connection);
        JdbcTransactions.quietly(() -> connection.createStatement().close());
      }

      @Override
      public void close() {
        try {
          JdbcTransactions.quietly(connection::close);
        } finally {
          closed.run();
        }
      }
    };
  }
}
