package dev.outbox.store.mysql;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.Deduplicated;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Appends by INSERT with many rows of values. A statement has at most so many rows and bytes that
 * it stays far below {@code max_allowed_packet}.
 *
 * <p>Dedup keys go first, into their own table: a key that is there already is left as it is, and
 * which ones were new is then read by the id of this append. That is no error and so leaves the
 * caller's transaction alone, at any isolation level (A4). A key in another open transaction is
 * waited for. They go in order, so that two that append the same ones do not deadlock.
 */
final class Append implements SqlDialect.Append {
  private static final int MOST_ROWS = 500;
  private static final int MOST_BYTES = 1_000_000;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT);

  private static final String ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, %s, %s, %s)";
  private static final String AFTER = "utc_timestamp(6) + interval ? microsecond";
  private static final String NEVER = "null";
  private static final String PENDING = "'PENDING'";

  /** Of most messages. */
  private static final String AT_ONCE = ROW.formatted(PENDING, NEVER, NEVER);

  private static final String INSERT =
      """
      insert into ${q}${p}message (id, aggregate_type, aggregate_id, event_type, partition_key,
        payload, content_type, headers, dedup_key, correlation_id, max_attempts, status, available_at,
        expires_at) values
      """;

  /**
   * An old key that was not purged yet is taken over; one inside the window stays as it is. In this
   * order: appended_by looks at the old time.
   */
  private static final String REMEMBER =
      """
      insert into ${q}${p}dedup (dedup_key, created_at, appended_by) values ${values}
      on duplicate key update
        appended_by = if(created_at < utc_timestamp(6) - interval ? * 1000 microsecond,
          values(appended_by), appended_by),
        created_at = if(appended_by = values(appended_by), utc_timestamp(6), created_at)
      """;

  private static final String REMEMBERED =
      "select dedup_key from ${q}${p}dedup where appended_by = ? and dedup_key in ";

  private final String insert;
  private final String remember;
  private final String remembered;

  Append(MysqlText text) {
    insert = text.fill(INSERT);
    remember = text.fill(REMEMBER);
    remembered = text.fill(REMEMBERED);
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    Deduplicated deduplicated =
        Deduplicated.of(messages, freshKeys(connection, messages, dedupWindow));
    List<OutboxMessage> stored = deduplicated.fresh();
    for (int from = 0; from < stored.size(); ) {
      int to = from + fitting(stored.subList(from, Math.min(stored.size(), from + MOST_ROWS)));
      insert(connection, stored.subList(from, to));
      from = to;
    }
    return deduplicated.duplicates();
  }

  /** How many of the first messages go into one statement: at least one. */
  private static int fitting(List<OutboxMessage> messages) {
    int count = 0;
    for (long bytes = 0; count < messages.size(); count++) {
      bytes += size(messages.get(count));
      if (bytes > MOST_BYTES && count > 0) {
        break;
      }
    }
    return count;
  }

  /** About the bytes of a message before the driver escapes them, which at most doubles them. */
  private static long size(OutboxMessage m) {
    long characters = length(m.aggregateType()) + length(m.aggregateId()) + length(m.eventType());
    characters += length(m.partitionKey()) + length(m.contentType());
    characters += length(m.dedupKey()) + length(m.correlationId());
    for (Header header : m.headers()) {
      characters += length(header.name()) + length(header.value());
    }
    return m.payloadSize() + 3 * characters; // of UTF-16: at most so many bytes of UTF-8 each
  }

  private static int length(@Nullable String text) {
    return text == null ? 0 : text.length();
  }

  /** The keys that were not appended within the window; they are remembered now. */
  private Set<String> freshKeys(
      Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    List<String> keys = List.copyOf(Deduplicated.keys(messages));
    Set<String> fresh = new HashSet<>();
    String append = UUID.randomUUID().toString();
    for (int from = 0; from < keys.size(); from += MOST_ROWS) {
      List<String> some = keys.subList(from, Math.min(keys.size(), from + MOST_ROWS));
      remember(connection, some, append, dedupWindow);
      fresh.addAll(remembered(connection, some, append));
    }
    return fresh;
  }

  private void remember(
      Connection connection, List<String> keys, String append, Duration dedupWindow)
      throws SQLException {
    String values = repeat("(?, utc_timestamp(6), ?)", keys.size());
    try (PreparedStatement statement =
        connection.prepareStatement(remember.replace("${values}", values))) {
      int i = 0;
      for (String key : keys) {
        statement.setString(++i, key);
        statement.setString(++i, append);
      }
      statement.setLong(++i, dedupWindow.toMillis());
      statement.executeUpdate();
    }
  }

  /** A transaction sees what it wrote itself, at any isolation level. */
  private Set<String> remembered(Connection connection, List<String> keys, String append)
      throws SQLException {
    Set<String> fresh = new HashSet<>();
    try (PreparedStatement statement =
        connection.prepareStatement(remembered + "(" + repeat("?", keys.size()) + ")")) {
      int i = 0;
      statement.setString(++i, append);
      for (String key : keys) {
        statement.setString(++i, key);
      }
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          fresh.add(rows.getString(1));
        }
      }
    }
    return fresh;
  }

  private static String repeat(String part, int times) {
    return String.join(", ", Collections.nCopies(times, part));
  }

  private void insert(Connection connection, List<OutboxMessage> messages) throws SQLException {
    String values = messages.stream().map(Append::values).collect(Collectors.joining(", "));
    try (PreparedStatement statement = connection.prepareStatement(insert + values)) {
      int i = 0;
      for (OutboxMessage m : messages) {
        statement.setString(++i, m.id().toString());
        statement.setString(++i, m.aggregateType());
        statement.setString(++i, m.aggregateId());
        statement.setString(++i, m.eventType());
        statement.setString(++i, m.partitionKey());
        statement.setBytes(++i, m.payload());
        statement.setString(++i, m.contentType());
        statement.setString(++i, Header.toJson(m.headers()));
        statement.setString(++i, m.dedupKey());
        statement.setString(++i, m.correlationId());
        statement.setObject(++i, m.maxAttempts(), Types.INTEGER);
        Object due = time(m.availableAt(), m.deliverAfter());
        if (due != null) { // once for its status
          statement.setObject(++i, due);
          statement.setObject(++i, due);
        }
        Object expires = time(m.expiresAt(), m.expireAfter());
        if (expires != null) {
          statement.setObject(++i, expires);
        }
      }
      statement.executeUpdate();
    }
  }

  /** What is bound for a time: text, or microseconds from now on. */
  private static @Nullable Object time(@Nullable Instant at, @Nullable Duration after) {
    return at != null
        ? TIME.format(at.atOffset(ZoneOffset.UTC))
        : after != null ? (Object) TimeUnit.MICROSECONDS.convert(after) : null;
  }

  private static String values(OutboxMessage m) {
    String due = value(m.availableAt(), m.deliverAfter());
    String expires = value(m.expiresAt(), m.expireAfter());
    if (due.equals(NEVER) && expires.equals(NEVER)) {
      return AT_ONCE;
    }
    String from = m.availableAt() != null ? "utc_timestamp(6)" : "0";
    String status =
        due.equals(NEVER) ? PENDING : "if(? > " + from + ", 'SCHEDULED', " + PENDING + ")";
    return ROW.formatted(status, due, expires);
  }

  private static String value(@Nullable Instant at, @Nullable Duration after) {
    return at != null ? "?" : after != null ? AFTER : NEVER;
  }
}
