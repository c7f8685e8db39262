package dev.outbox.store.postgres;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.jdbc.Row;
import dev.outbox.store.jdbc.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads rows of the message table; one that cannot be decoded is a message with a problem (C7). */
final class Rows {
  private Rows() {}

  static Row row(ResultSet rows) throws SQLException {
    String target = rows.getString("target");
    return row(rows, target == null ? null : Status.valueOf(target));
  }

  static Row row(ResultSet rows, @Nullable Status target) throws SQLException {
    return new Row(
        rows.getInt("bucket"),
        rows.getLong("seq"),
        rows.getString("key"),
        Status.valueOf(rows.getString("status")),
        target,
        target == null ? message(rows) : null);
  }

  static StoredMessage message(ResultSet rows) throws SQLException {
    long sequence = rows.getLong("seq");
    int attempts = rows.getInt("attempts");
    Instant createdAt = requireNonNull(instant(rows, "created_at"));
    try {
      OutboxMessage message =
          OutboxMessage.builder()
              .id(rows.getObject("id", UUID.class))
              .aggregate(rows.getString("aggregate_type"), rows.getString("aggregate_id"))
              .eventType(rows.getString("event_type"))
              .partitionKey(rows.getString("partition_key"))
              .payload(rows.getBytes("payload"))
              .contentType(rows.getString("content_type"))
              .headers(HeaderCodec.decode(rows.getString("headers")))
              .dedupKey(rows.getString("dedup_key"))
              .correlationId(rows.getString("correlation_id"))
              .availableAt(instant(rows, "available_at"))
              .build();
      return StoredMessage.of(sequence, attempts, createdAt, message);
    } catch (RuntimeException e) {
      return StoredMessage.undecodable(
          sequence, rows.getString("key"), attempts, createdAt, String.valueOf(e.getMessage()));
    }
  }

  static @Nullable Instant instant(ResultSet rows, String column) throws SQLException {
    OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
