package dev.outbox.dev.bench;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Business transactions: one row of four columns each, and what is appended. */
final class JdbcBusiness implements BenchDatabase.Business {
  private final BenchKind kind;
  private final Connection connection;
  private final Appending appending;
  private final String schema;
  private final BusinessInsert insert;

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

  JdbcBusiness(BenchKind kind, Connection connection, Appending appending, String schema)
      throws SQLException {
    this.kind = kind;
    this.connection = connection;
    this.appending = appending;
    this.schema = schema;
    insert = new BusinessInsert(connection, schema);
  }

  @Override
  public void transaction(BenchDatabase.Append append, List<OutboxMessage> messages) {
    try {
      insert.execute();
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
  public void close() {
    insert.close();
  }
}
