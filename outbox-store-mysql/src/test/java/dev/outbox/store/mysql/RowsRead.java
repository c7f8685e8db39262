package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Counts the rows and index entries that a session's statements have looked at. */
final class RowsRead {
  private final TestDatabase session;

  /**
   * @param session with a pool of one connection, because the server counts for each session
   */
  RowsRead(TestDatabase session) {
    this.session = session;
  }

  long total() {
    long total = 0;
    try (Connection connection = session.pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show session status like 'Handler\\_read\\_%'")) {
      while (rows.next()) {
        total += rows.getLong(2);
      }
      return total;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
