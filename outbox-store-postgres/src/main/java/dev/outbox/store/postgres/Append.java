package dev.outbox.store.postgres;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Appends any number of messages in one round trip: one array a column. */
final class Append {
  private final PostgresStatements sql;

  Append(PostgresStatements sql) {
    this.sql = sql;
  }

  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    boolean dedup = messages.stream().anyMatch(m -> m.dedupKey() != null);
    try (PreparedStatement statement =
        connection.prepareStatement(dedup ? sql.appendWithDedup : sql.append)) {
      Columns columns = new Columns(connection, statement, messages);
      columns.set("uuid", OutboxMessage::id);
      columns.set("text", OutboxMessage::aggregateType);
      columns.set("text", OutboxMessage::aggregateId);
      columns.set("text", OutboxMessage::eventType);
      columns.set("text", OutboxMessage::partitionKey);
      columns.set("bytea", messages.stream().map(OutboxMessage::payload).toArray(byte[][]::new));
      columns.set("text", OutboxMessage::contentType);
      columns.set("text", m -> HeaderCodec.encode(m.headers()));
      columns.set("text", OutboxMessage::dedupKey);
      columns.set("text", OutboxMessage::correlationId);
      columns.set("text", m -> m.availableAt() == null ? null : m.availableAt().toString());
      columns.set("bigint", m -> m.deliverAfter() == null ? null : micros(m.deliverAfter()));
      if (!dedup) {
        statement.executeUpdate();
        return Set.of();
      }
      statement.setLong(columns.next(), dedupWindow.toMillis());
      Set<UUID> duplicates = new HashSet<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          duplicates.add(rows.getObject(1, UUID.class));
        }
      }
      return Set.copyOf(duplicates);
    }
  }

  private static long micros(Duration duration) {
    return duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000;
  }

  /** Sets one array a column of the messages, from left to right. */
  private static final class Columns {
    private final Connection connection;
    private final PreparedStatement statement;
    private final List<OutboxMessage> messages;
    private int last;

    Columns(Connection connection, PreparedStatement statement, List<OutboxMessage> messages) {
      this.connection = connection;
      this.statement = statement;
      this.messages = messages;
    }

    void set(String type, Function<OutboxMessage, @Nullable Object> column) throws SQLException {
      set(type, messages.stream().map(column).toArray());
    }

    void set(String type, Object[] values) throws SQLException {
      Array array = connection.createArrayOf(type, values);
      statement.setArray(next(), array);
    }

    int next() {
      return ++last;
    }
  }
}
