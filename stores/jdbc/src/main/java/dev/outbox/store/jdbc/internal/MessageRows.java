package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.EmptyKey;
import dev.outbox.store.core.internal.Row.ToMove;
import dev.outbox.store.core.internal.ServedLease;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads rows of the message table; one that cannot be decoded is a message with a problem (C7). */
public class MessageRows {

  /**
   * What is read of a message; by place, not by name, because it is read for each message. {@code
   * ${clock}} is the statement's time.
   */
  public static final String COLUMNS =
      """
      m.bucket, m.seq, m.payload, m.attempts, m.created_at, m.id, m.aggregate_type,
      m.aggregate_id, m.event_type, m.partition_key, m.content_type, m.headers,
      m.dedup_key, m.correlation_id, m.available_at, m.max_attempts,
      m.expires_at, case when m.expires_at <= ${clock} then 1 else 0 end as expired
      """;

  private static final int BUCKET = 1;
  private static final int SEQUENCE = 2;
  private static final int PAYLOAD = 3;
  private static final int ATTEMPTS = 4;
  private static final int CREATED_AT = 5;
  private static final int ID = 6;
  private static final int AGGREGATE_TYPE = 7;
  private static final int AGGREGATE_ID = 8;
  private static final int EVENT_TYPE = 9;
  private static final int PARTITION_KEY = 10;
  private static final int CONTENT_TYPE = 11;
  private static final int HEADERS = 12;
  private static final int DEDUP_KEY = 13;
  private static final int CORRELATION_ID = 14;
  private static final int AVAILABLE_AT = 15;
  private static final int MAX_ATTEMPTS = 16;
  private static final int EXPIRES_AT = 17;
  private static final int EXPIRED = 18;

  static final int COUNT = 18;

  /** The column of a read that says which status a message must move to; null: none. */
  private static final int TARGET = COUNT + 1;

  /** The column of a read that says something of its snapshot. */
  public static final int HORIZON = COUNT + 2;

  private static final DateTimeFormatter MICROSECONDS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS", Locale.ROOT);

  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

  /** A time in UTC, which comes without a zone unless the database has a type with one. */
  public @Nullable Instant instant(ResultSet rows, int column) throws SQLException {
    LocalDateTime time = rows.getObject(column, LocalDateTime.class);
    return time == null ? null : time.toInstant(ZoneOffset.UTC);
  }

  /** A time that is not null. */
  public final Instant instant(ResultSet rows, String column) throws SQLException {
    return requireNonNull(instant(rows, rows.findColumn(column)));
  }

  /** Whether a row has a message, and not only what a read says besides. */
  public static boolean isMessage(ResultSet rows) throws SQLException {
    long ignored = rows.getLong(SEQUENCE);
    return !rows.wasNull();
  }

  /**
   * A row of a read that says where its message must move to. Null when a message that can be
   * claimed comes without its payload, because that is too large.
   */
  public @Nullable Row row(ResultSet rows, Status status) throws SQLException {
    String target = rows.getString(TARGET);
    if (target == null) {
      byte[] payload = rows.getBytes(PAYLOAD);
      return payload == null ? null : claimable(rows, status, payload);
    }
    return new ToMove(
        rows.getInt(BUCKET),
        rows.getLong(SEQUENCE),
        key(rows),
        status,
        requireNonNull(rows.getObject(ID)),
        Status.valueOf(target));
  }

  /** The time of a SCHEDULED message, by which it is read in order; null for other messages. */
  @Nullable Instant due(ResultSet rows, Status status) throws SQLException {
    return status == Status.SCHEDULED ? instant(rows, AVAILABLE_AT) : null;
  }

  private Claimable claimable(ResultSet rows, Status status, byte[] payload) throws SQLException {
    Object id = requireNonNull(rows.getObject(ID));
    Instant availableAt = instant(rows, AVAILABLE_AT);
    StoredMessage message = message(rows, id, availableAt, payload);
    return new Claimable(
        rows.getInt(BUCKET), message.sequence(), message.key(), status, id, message, availableAt);
  }

  /**
   * A row with {@link #COLUMNS}, due_bucket, due_key and due_low_seq, of which the first are null
   * for a due key without BLOCKED messages.
   */
  public Row blocked(ResultSet rows) throws SQLException {
    return isMessage(rows)
        ? claimable(rows, Status.BLOCKED, requireNonNull(rows.getBytes(PAYLOAD)))
        : new EmptyKey(
            rows.getInt("due_bucket"), rows.getLong("due_low_seq"), rows.getString("due_key"));
  }

  /** A row with bucket, token, scheduled, blocked, singles and served_at, just leased. */
  public ServedLease served(ResultSet row, Object state, Claim.Request request)
      throws SQLException {
    return new ServedLease(
        instant(row, "served_at"),
        Lease.begins(
            row.getInt("bucket"),
            row.getLong("token"),
            state,
            row.getBoolean("scheduled"),
            row.getBoolean("blocked"),
            row.getInt("singles") > 0,
            request.lease()));
  }

  /** A row with left_millis, scheduled and blocked: the lease as it goes on. */
  public static Lease goesOn(ResultSet row, Lease lease, Object state) throws SQLException {
    return lease.goesOn(
        Duration.ofMillis(row.getLong("left_millis")),
        row.getBoolean("scheduled"),
        row.getBoolean("blocked"),
        state);
  }

  /**
   * The nearest time of the years 1 to 9999: PostgreSQL has others and infinite ones, which have no
   * text that each database reads.
   */
  static Instant clamp(Instant time) {
    return time.isBefore(FIRST) ? FIRST : time.isAfter(LAST) ? LAST : time;
  }

  /** A time in UTC as text without a zone, to the microsecond, as databases have it. */
  public static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : MICROSECONDS.format(clamp(time).atOffset(ZoneOffset.UTC));
  }

  private static String key(ResultSet rows) throws SQLException {
    return OutboxMessage.key(
        rows.getString(AGGREGATE_TYPE),
        rows.getString(AGGREGATE_ID),
        rows.getString(PARTITION_KEY));
  }

  StoredMessage message(ResultSet rows) throws SQLException {
    return message(
        rows,
        requireNonNull(rows.getObject(ID)),
        instant(rows, AVAILABLE_AT),
        requireNonNull(rows.getBytes(PAYLOAD)));
  }

  private StoredMessage message(
      ResultSet rows, Object id, @Nullable Instant availableAt, byte[] payload)
      throws SQLException {
    long sequence = rows.getLong(SEQUENCE);
    int attempts = rows.getInt(ATTEMPTS);
    Instant stored = requireNonNull(instant(rows, CREATED_AT));
    Instant createdAt = clamp(stored);
    try {
      if (!createdAt.equals(stored)) {
        throw new IllegalArgumentException("createdAt is not within the years 1 to 9999");
      }
      OutboxMessage message =
          OutboxMessage.builder()
              .id(uuid(id))
              .aggregate(rows.getString(AGGREGATE_TYPE), rows.getString(AGGREGATE_ID))
              .eventType(rows.getString(EVENT_TYPE))
              .partitionKey(rows.getString(PARTITION_KEY))
              .payload(payload)
              .contentType(rows.getString(CONTENT_TYPE))
              .addHeaders(Header.fromJson(rows.getString(HEADERS)))
              .dedupKey(rows.getString(DEDUP_KEY))
              .correlationId(rows.getString(CORRELATION_ID))
              .availableAt(availableAt)
              .expiresAt(instant(rows, EXPIRES_AT))
              .maxAttempts(rows.getObject(MAX_ATTEMPTS, Integer.class))
              .build();
      StoredMessage read = StoredMessage.of(sequence, attempts, createdAt, message);
      return rows.getInt(EXPIRED) == 1 ? read.asExpired() : read;
    } catch (RuntimeException e) {
      return StoredMessage.undecodable(
          sequence,
          key(rows),
          rows.getString(AGGREGATE_TYPE),
          attempts,
          createdAt,
          String.valueOf(e.getMessage()));
    }
  }

  /** The id, which comes as text unless the database has a type for it. */
  private static UUID uuid(Object id) {
    if (id instanceof UUID uuid) {
      return uuid;
    }
    try {
      return UUID.fromString(id.toString());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("id is not a UUID: " + id, e);
    }
  }
}
