package dev.outbox.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Appends any number of messages in one round trip: one array a column. */
final class Append {
  private static final Map<String, Integer> JDBC_TYPES =
      Map.of(
          "uuid", Types.OTHER,
          "text", Types.VARCHAR,
          "bytea", Types.BINARY,
          "bigint", Types.BIGINT);

  private final PostgresStatements sql;

  Append(PostgresStatements sql) {
    this.sql = sql;
  }

  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    boolean dedup = messages.stream().anyMatch(m -> m.dedupKey() != null);
    try (PreparedStatement statement =
        connection.prepareStatement(statement(dedup, messages.size() == 1))) {
      Columns columns = new Columns(connection, statement, messages);
      columns.set("uuid", OutboxMessage::id);
      columns.set("text", OutboxMessage::aggregateType);
      columns.set("text", OutboxMessage::aggregateId);
      columns.set("text", OutboxMessage::eventType);
      columns.set("text", OutboxMessage::partitionKey);
      columns.set("bytea", OutboxMessage::payload);
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

  private String statement(boolean dedup, boolean one) {
    if (dedup) {
      return one ? sql.appendOneWithDedup : sql.appendWithDedup;
    }
    return one ? sql.appendOne : sql.append;
  }

  private static long micros(Duration duration) {
    return duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000;
  }

  /** Sets the columns from left to right: an array each, or of one message the value. */
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
      if (messages.size() == 1) {
        statement.setObject(
            next(), column.apply(messages.get(0)), requireNonNull(JDBC_TYPES.get(type)));
        return;
      }
      Object[] values = messages.stream().map(column).toArray();
      Array array =
          connection.createArrayOf(
              type,
              type.equals("bytea") ? Arrays.copyOf(values, values.length, byte[][].class) : values);
      statement.setArray(next(), array);
    }

    int next() {
      return ++last;
    }
  }
}
