package dev.outbox.debezium;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.jspecify.annotations.Nullable;

/**
 * Reads rows of the message table, in the types that Debezium has for the columns of PostgreSQL and
 * of MySQL. A value that breaks a limit is the row's own trouble (C7); a column that is missing or
 * of another type is a setting's, and an error.
 */
final class Rows {
  private static final String MICROS = "io.debezium.time.MicroTimestamp";

  private Rows() {}

  /** Whether it is a dead letter, which no relay publishes either. */
  static boolean isDead(Struct row) {
    return row.schema().field("status") != null && "DEAD".equals(text(row, "status"));
  }

  /** The message; a row that cannot be decoded is one with a problem. */
  static StoredMessage message(Struct row) {
    long sequence = sequence(row);
    String key =
        OutboxMessage.key(
            needed(row, "aggregate_type"), needed(row, "aggregate_id"), text(row, "partition_key"));
    byte[] payload = payload(row);
    try {
      OutboxMessage message =
          OutboxMessage.builder()
              .id(UUID.fromString(needed(row, "id")))
              .aggregateType(needed(row, "aggregate_type"))
              .aggregateId(needed(row, "aggregate_id"))
              .eventType(needed(row, "event_type"))
              .partitionKey(text(row, "partition_key"))
              .payload(payload)
              .contentType(needed(row, "content_type"))
              .addHeaders(Header.fromJson(needed(row, "headers")))
              .dedupKey(text(row, "dedup_key"))
              .correlationId(text(row, "correlation_id"))
              .build();
      // Attempts are a relay's; nothing of them is in a record.
      return StoredMessage.of(sequence, 0, createdAt(row), message);
    } catch (IllegalArgumentException | OutboxException e) {
      return StoredMessage.undecodable(
          sequence,
          key,
          text(row, "aggregate_type"),
          0,
          Instant.EPOCH,
          String.valueOf(e.getMessage()));
    }
  }

  private static long sequence(Struct row) {
    if (value(row, "seq") instanceof Number sequence) {
      return sequence.longValue();
    }
    throw unexpected(row, "seq", "do not convert this column");
  }

  /** As it was stored. */
  static byte[] payload(Struct row) {
    Object payload = value(row, "payload");
    if (payload instanceof byte[] bytes) {
      return bytes;
    }
    if (payload instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return bytes;
    }
    throw unexpected(row, "payload", "set binary.handling.mode to bytes, its default");
  }

  /** With microseconds, because a relay sends them too. */
  private static Instant createdAt(Struct row) {
    Object time = value(row, "created_at");
    if (time instanceof String text) {
      try {
        return OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeParseException e) {
        throw new IllegalArgumentException("createdAt is no time of the calendar: " + text, e);
      }
    }
    if (time instanceof Long micros && MICROS.equals(field(row, "created_at").schema().name())) {
      return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
    throw unexpected(
        row, "created_at", "set time.precision.mode to adaptive_time_microseconds, its default");
  }

  /** Of a column that is never null. */
  private static String needed(Struct row, String column) {
    return requireNonNull(text(row, column), column);
  }

  private static @Nullable String text(Struct row, String column) {
    Object text = value(row, column);
    if (text == null || text instanceof String) {
      return (String) text;
    }
    throw unexpected(row, column, "do not convert this column");
  }

  /** Not what its schema has as a default: null means null. */
  private static @Nullable Object value(Struct row, String column) {
    return row.getWithoutDefault(field(row, column).name());
  }

  private static Field field(Struct row, String column) {
    Field field = row.schema().field(column);
    if (field == null) {
      throw new ConnectException(
          "a change of %s has no column %s: name the outbox's message table, and no other, in table.include.list, and exclude none of its columns"
              .formatted(row.schema().name(), column));
    }
    return field;
  }

  private static ConnectException unexpected(Struct row, String column, String what) {
    return new ConnectException(
        "the column %s of %s comes as %s: %s"
            .formatted(column, row.schema().name(), field(row, column).schema(), what));
  }
}
