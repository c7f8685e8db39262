package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads rows of the message table; one that cannot be decoded is a message with a problem (C7). */
public final class Rows {

  /** What is read of a message; by place, not by name, because it is read for each message. */
  public static final String COLUMNS =
      """
      m.bucket, m.seq, m.payload, m.attempts, m.created_at, m.id, m.aggregate_type,
      m.aggregate_id, m.event_type, m.partition_key, m.content_type, m.headers,
      m.dedup_key, m.correlation_id, m.available_at
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

  /** Where a read has one: the status that the message must move to. */
  private static final int TARGET = 16;

  /** Where a read has one: all transactions with a lower id were over. */
  static final int HORIZON = 17;

  private final Types types;

  Rows(Types types) {
    this.types = types;
  }

  /** How the driver gives what JDBC has no one type for. */
  public interface Types {
    UUID uuid(ResultSet rows, int column) throws SQLException;

    /** Of a time in UTC. */
    @Nullable Instant instant(ResultSet rows, int column) throws SQLException;
  }

  static boolean isMessage(ResultSet rows) throws SQLException {
    return rows.getObject(SEQUENCE) != null;
  }

  /** Whether a message that can be claimed comes without its payload, because that is too large. */
  static boolean leftOut(ResultSet rows) throws SQLException {
    return isMessage(rows) && rows.getString(TARGET) == null && rows.getObject(PAYLOAD) == null;
  }

  Row row(ResultSet rows, Status status) throws SQLException {
    String target = rows.getString(TARGET);
    return target == null
        ? claimable(rows, status)
        : row(rows, status, Status.valueOf(target), null);
  }

  Row claimable(ResultSet rows, Status status) throws SQLException {
    return row(rows, status, null, message(rows));
  }

  private Row row(
      ResultSet rows, Status status, @Nullable Status target, @Nullable StoredMessage message)
      throws SQLException {
    return new Row(
        rows.getInt(BUCKET),
        rows.getLong(SEQUENCE),
        key(rows),
        status,
        target,
        message,
        rows.getObject(ID),
        types.instant(rows, AVAILABLE_AT));
  }

  private static String key(ResultSet rows) throws SQLException {
    String partitionKey = rows.getString(PARTITION_KEY);
    return partitionKey != null ? partitionKey : rows.getString(AGGREGATE_ID);
  }

  StoredMessage message(ResultSet rows) throws SQLException {
    long sequence = rows.getLong(SEQUENCE);
    int attempts = rows.getInt(ATTEMPTS);
    Instant createdAt = requireNonNull(types.instant(rows, CREATED_AT));
    try {
      OutboxMessage message =
          OutboxMessage.builder()
              .id(types.uuid(rows, ID))
              .aggregate(rows.getString(AGGREGATE_TYPE), rows.getString(AGGREGATE_ID))
              .eventType(rows.getString(EVENT_TYPE))
              .partitionKey(rows.getString(PARTITION_KEY))
              .payload(rows.getBytes(PAYLOAD))
              .contentType(rows.getString(CONTENT_TYPE))
              .headers(HeaderCodec.decode(rows.getString(HEADERS)))
              .dedupKey(rows.getString(DEDUP_KEY))
              .correlationId(rows.getString(CORRELATION_ID))
              .availableAt(types.instant(rows, AVAILABLE_AT))
              .build();
      return StoredMessage.of(sequence, attempts, createdAt, message);
    } catch (RuntimeException e) {
      return StoredMessage.undecodable(
          sequence, key(rows), attempts, createdAt, String.valueOf(e.getMessage()));
    }
  }
}
