package dev.outbox.consumer.kafka;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Runs work in a transaction of its own: one line for each library.
 *
 * <pre>{@code
 * Transactions<Connection> jdbi = work -> jdbi.useTransaction(h -> work.accept(h.getConnection()));
 * }</pre>
 *
 * @param <T> the transaction's type: {@code java.sql.Connection}, Mongo's {@code ClientSession}
 */
@FunctionalInterface
public interface Transactions<T> {

  /**
   * Begins a transaction, calls {@code work} with it, and commits when that returns. Rolls back
   * when it throws, and throws the same, or another exception with that as a cause. May do all of
   * this several times, until a commit succeeds.
   *
   * @throws Exception also when there is no connection, or the commit fails
   */
  void run(Consumer<T> work) throws Exception;

  /**
   * Transactions on connections of a data source, with the isolation that they have.
   *
   * @param dataSource a pool, which sets auto-commit back by itself when a connection is returned
   */
  static Transactions<Connection> of(DataSource dataSource) {
    requireNonNull(dataSource, "dataSource");
    return work -> {
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
    };
  }

  private static void rollBack(Connection connection, Throwable why) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }
}
