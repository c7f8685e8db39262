package dev.outbox.store.sqlserver;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import dev.outbox.store.core.Deduplicated;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Appends on the caller's connection: one statement a message, all in one round trip, so that
 * sequences are drawn in the order of the list. Before them go the dedup keys, in one round trip
 * more, or three when some are there already.
 */
final class Append {
  private static final DateTimeFormatter MICROSECONDS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS");

  private final SqlServerStatements sql;

  Append(SqlServerStatements sql) {
    this.sql = sql;
  }

  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    Deduplicated deduplicated = Deduplicated.of(messages, fresh(connection, messages, dedupWindow));
    insert(connection, deduplicated.fresh());
    return deduplicated.duplicates();
  }

  /**
   * The dedup keys that nobody appended within the window. Old ones are purged meanwhile, so what
   * was there and is not old may be gone: then it is inserted after all.
   */
  private Set<String> fresh(
      Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    Set<String> keys = Deduplicated.keys(messages);
    Set<String> fresh = new HashSet<>();
    take(connection, sql.insertDedup, keys, fresh, null);
    take(connection, sql.renewDedup, keys, fresh, dedupWindow);
    take(connection, sql.insertDedup, keys, fresh, null);
    return fresh;
  }

  /**
   * Runs a statement for each key, and moves those that it changed.
   *
   * @param window where the statement asks for it
   */
  private static void take(
      Connection connection,
      String sql,
      Set<String> keys,
      Set<String> taken,
      @Nullable Duration window)
      throws SQLException {
    if (keys.isEmpty()) {
      return;
    }
    List<String> tried = List.copyOf(keys);
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (String key : tried) {
        statement.setNString(1, key);
        if (window != null) {
          statement.setInt(2, -window.toMillisPart());
          statement.setInt(3, Math.toIntExact(-window.toSeconds()));
        }
        statement.addBatch();
      }
      int[] changed = statement.executeBatch();
      for (int i = 0; i < changed.length; i++) {
        if (changed[i] > 0) {
          keys.remove(tried.get(i));
          taken.add(tried.get(i));
        }
      }
    }
  }

  private void insert(Connection connection, Collection<OutboxMessage> messages)
      throws SQLException {
    if (messages.isEmpty()) {
      return;
    }
    try (PreparedStatement statement = connection.prepareStatement(sql.append)) {
      for (OutboxMessage message : messages) {
        set(statement, message);
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }

  private static void set(PreparedStatement statement, OutboxMessage m) throws SQLException {
    statement.setNString(1, m.id().toString());
    statement.setNString(2, m.aggregateType());
    statement.setNString(3, m.aggregateId());
    statement.setNString(4, m.eventType());
    statement.setNString(5, m.partitionKey());
    statement.setBytes(6, m.payload());
    statement.setNString(7, m.contentType());
    statement.setNString(8, HeaderCodec.encode(m.headers()));
    statement.setNString(9, m.dedupKey());
    statement.setNString(10, m.correlationId());
    statement.setNString(11, text(m.availableAt()));
    Duration after = m.deliverAfter();
    if (after == null) {
      statement.setNull(12, Types.INTEGER);
      statement.setNull(13, Types.INTEGER);
    } else {
      statement.setInt(12, after.toNanosPart() / 1_000);
      statement.setInt(13, Math.toIntExact(after.toSeconds()));
    }
  }

  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : MICROSECONDS.format(time.atOffset(ZoneOffset.UTC));
  }
}
