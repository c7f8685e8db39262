package dev.outbox.dev;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A transaction on a connection of its own. */
public final class JdbcTransaction {
  private JdbcTransaction() {}

  /** What is done in it. */
  public interface Work {
    /** Returns whether to commit. */
    boolean in(Connection connection) throws SQLException;
  }

  /** Commits where the work says true, else rolls back; returns what it said. */
  public static boolean run(DataSource dataSource, Work work) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        boolean good = work.in(connection);
        if (good) {
          connection.commit();
        } else {
          connection.rollback();
        }
        return good;
      } catch (Throwable e) {
        connection.rollback();
        throw e;
      }
    }
  }
}
