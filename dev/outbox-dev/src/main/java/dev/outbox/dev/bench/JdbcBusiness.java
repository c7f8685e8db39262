package dev.outbox.dev.bench;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Transactions with one row of four columns each, and what is appended or recorded. */
final class JdbcBusiness implements BenchDatabase.Business {
  private final JdbcKind kind;
  private final Connection connection;
  private final Appending appending;
  private final Inbox<Connection> inbox;
  private final String schema;
  private final PreparedStatement insert;

  /** Appends, and returns what is to be run after the commit. */
  interface Appending {
    Runnable append(Connection connection, List<OutboxMessage> messages);

    static Appending to(Outbox<Connection> outbox) {
      return (connection, messages) -> {
        outbox.append(connection, messages);
        return () -> {};
      };
    }
  }

  /** Begins transactions on the connection. */
  JdbcBusiness(
      JdbcKind kind,
      Connection connection,
      Appending appending,
      Inbox<Connection> inbox,
      String schema)
      throws SQLException {
    this.kind = kind;
    this.connection = connection;
    this.appending = appending;
    this.inbox = inbox;
    this.schema = schema;
    connection.setAutoCommit(false);
    insert = connection.prepareStatement(insert(schema));
  }

  static String insert(String schema) {
    return "insert into %s.business (customer, amount) values ('customer-1', 1250)"
        .formatted(schema);
  }

  @Override
  public void transaction(BenchDatabase.Append append, List<OutboxMessage> messages) {
    try {
      insert.executeUpdate();
      Runnable committed = () -> {};
      switch (append) {
        case OUTBOX -> committed = appending.append(connection, messages);
        case BARE -> JdbcLimit.insert(kind, connection, schema, messages);
        case NONE -> {}
      }
      connection.commit();
      committed.run();
    } catch (SQLException e) {
      throw new IllegalStateException("a business transaction failed: " + e.getMessage(), e);
    }
  }

  @Override
  public void consume(@Nullable InboxKey key) {
    try {
      if (key != null && !inbox.firstTime(connection, key)) {
        throw new IllegalStateException(key + " came before");
      }
      insert.executeUpdate();
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException("a consumer's transaction failed: " + e.getMessage(), e);
    }
  }

  /** Gives the connection back as it was. */
  @Override
  public void close() {
    try (connection;
        insert) {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      throw new IllegalStateException("a connection cannot be given back: " + e.getMessage(), e);
    }
  }
}
