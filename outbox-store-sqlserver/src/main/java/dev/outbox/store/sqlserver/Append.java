package dev.outbox.store.sqlserver;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.Deduplicated;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Appends on the caller's connection: one statement a message, all in one batch, so that sequences
 * are drawn in the order of the list. Before them go the dedup keys, in one batch more, or three
 * when some are there already.
 */
final class Append implements SqlDialect.Append {
  /**
   * A key that is not there yet. One in another's open transaction is waited for, by the read or by
   * the insert: of two that insert at once one waits, and then inserts nothing, because with
   * IGNORE_DUP_KEY = ON a duplicate is left out with a warning. So there is no error, which would
   * end the caller's transaction under XACT_ABORT.
   */
  private static final String INSERT_DEDUP =
      """
      insert into ${q}${p}dedup (dedup_key)
      select i.dedup_key
      from (select convert(nvarchar(510), ?) as dedup_key) i
      where not exists (select 1 from ${q}${p}dedup d ${seekNow}
        where d.dedup_hash = hashbytes('SHA2_256', convert(varbinary(1020), i.dedup_key)))
      """;

  /** A key from before the window that was not purged yet is taken over. */
  private static final String RENEW_DEDUP =
      """
      update ${q}${p}dedup set created_at = sysutcdatetime()
      where dedup_hash = hashbytes('SHA2_256', convert(varbinary(1020), convert(nvarchar(510), ?)))
        and created_at < dateadd(millisecond, ?, dateadd(second, ?, ${utc}))
      """;

  /** A time comes as ISO 8601 text (style 126), which means the same in every language setting. */
  private static final String INSERT =
      """
      insert into ${q}${p}message (status, id, aggregate_type, aggregate_id, event_type,
        partition_key, payload, content_type, headers, dedup_key, correlation_id, max_attempts,
        available_at, expires_at)
      select case when i.due > sysutcdatetime() then N'SCHEDULED' else N'PENDING' end,
        i.id, i.aggregate_type, i.aggregate_id, i.event_type, i.partition_key, i.payload,
        i.content_type, i.headers, i.dedup_key, i.correlation_id, i.max_attempts, i.due,
        i.expires
      from (
        select ? as id, ? as aggregate_type, ? as aggregate_id, ? as event_type,
          ? as partition_key, ? as payload, ? as content_type, ? as headers, ? as dedup_key,
          ? as correlation_id, ? as max_attempts,
          coalesce(convert(datetime2(6), ?, 126),
            dateadd(microsecond, ?, dateadd(second, ?, sysutcdatetime()))) as due,
          coalesce(convert(datetime2(6), ?, 126),
            dateadd(microsecond, ?, dateadd(second, ?, sysutcdatetime()))) as expires
      ) i
      """;

  private final String insertDedup;
  private final String renewDedup;
  private final String insert;

  Append(Server server) {
    insertDedup = server.fill(INSERT_DEDUP);
    renewDedup = server.fill(RENEW_DEDUP);
    insert = server.fill(INSERT);
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
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
    take(connection, insertDedup, keys, fresh, null);
    take(connection, renewDedup, keys, fresh, dedupWindow);
    take(connection, insertDedup, keys, fresh, null);
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
    try (PreparedStatement statement = connection.prepareStatement(insert)) {
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
    // Else the type would depend on the length, and a batch would be prepared anew at each change.
    statement.setObject(6, m.payload(), Types.LONGVARBINARY);
    statement.setNString(7, m.contentType());
    statement.setObject(8, Header.toJson(m.headers()), Types.LONGNVARCHAR);
    statement.setNString(9, m.dedupKey());
    statement.setNString(10, m.correlationId());
    statement.setObject(11, m.maxAttempts(), Types.INTEGER);
    set(statement, 12, m.availableAt(), m.deliverAfter());
    set(statement, 15, m.expiresAt(), m.expireAfter());
  }

  private static void set(
      PreparedStatement statement, int first, @Nullable Instant at, @Nullable Duration after)
      throws SQLException {
    statement.setNString(first, MessageRows.text(at));
    if (after == null) {
      statement.setNull(first + 1, Types.INTEGER);
      statement.setNull(first + 2, Types.INTEGER);
    } else {
      statement.setInt(first + 1, after.toNanosPart() / 1_000);
      statement.setInt(first + 2, Math.toIntExact(after.toSeconds()));
    }
  }
}
