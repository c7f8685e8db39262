package dev.outbox.dev.bench;

import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A consumer's transactions: one row of four columns each, and what the inbox records. */
final class JdbcConsuming implements BenchDatabase.Consuming {
  private final Connection connection;
  private final Inbox<Connection> inbox;
  private final BusinessInsert insert;

  JdbcConsuming(Connection connection, Inbox<Connection> inbox, String schema) throws SQLException {
    this.connection = connection;
    this.inbox = inbox;
    insert = new BusinessInsert(connection, schema);
  }

  @Override
  public void transaction(@Nullable InboxKey key) {
    try {
      if (key != null && !inbox.firstTime(connection, key)) {
        throw new IllegalStateException(key + " came before");
      }
      insert.execute();
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException("a consumer's transaction failed: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    insert.close();
  }
}
