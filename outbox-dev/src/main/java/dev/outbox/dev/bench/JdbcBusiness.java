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
  private final Outbox<Connection> outbox;
  private final String schema;
  private final BusinessInsert insert;

  JdbcBusiness(BenchKind kind, Connection connection, Outbox<Connection> outbox, String schema)
      throws SQLException {
    this.kind = kind;
    this.connection = connection;
    this.outbox = outbox;
    this.schema = schema;
    insert = new BusinessInsert(connection, schema);
  }

  @Override
  public void transaction(BenchDatabase.Append append, List<OutboxMessage> messages) {
    try {
      insert.execute();
      switch (append) {
        case OUTBOX -> outbox.append(connection, messages);
        case BARE -> JdbcLimit.insert(kind, connection, schema, messages);
        case NONE -> {}
      }
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException("a business transaction failed: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    insert.close();
  }
}
