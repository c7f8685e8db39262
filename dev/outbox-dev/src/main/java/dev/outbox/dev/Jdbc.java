package dev.outbox.dev;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** What several commands do with a relational database. */
public final class Jdbc {
  private Jdbc() {}

  /**
   * A pool that opens connections when they are needed, so that the database may be away.
   *
   * @param patience how long a client waits for a connection
   */
  public static HikariDataSource pool(
      String url, String user, String password, int connections, Duration patience) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user.isEmpty() ? null : user);
    config.setPassword(password.isEmpty() ? null : password);
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(0);
    config.setInitializationFailTimeout(-1);
    config.setConnectionTimeout(patience.toMillis());
    // Else the pool asks for the default, once; when that connection dies it never works again.
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    return new HikariDataSource(config);
  }

  /** What is done in a transaction. */
  public interface Work {
    /** Returns whether to commit. */
    boolean in(Connection connection) throws SQLException;
  }

  /**
   * On a connection of its own: commits where the work says true, else rolls back; returns what it
   * said.
   */
  public static boolean transaction(DataSource dataSource, Work work) throws SQLException {
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
