package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Unlocks the tests of rows that other languages insert by plain SQL (A5, A6, C7). */
public interface RawRows<T> {

  /**
   * Inserts with a plain {@code INSERT} that names only the columns of the fields which are not
   * null; the schema's defaults give the rest. Fails when the schema refuses the row.
   */
  void insertRaw(T transaction, RawRow row);

  /**
   * Inserts the row in a form that the schema accepts and that cannot be decoded, as with headers
   * that are not in the stored form.
   */
  void insertUndecodable(T transaction, RawRow row);

  /** The required columns, and two that may be null. */
  record RawRow(
      UUID id,
      String aggregateType,
      String aggregateId,
      String eventType,
      byte[] payload,
      @Nullable String partitionKey,
      @Nullable Instant availableAt) {

    /** A row of an order with this id, and with nothing that is not required. */
    public static RawRow of(String aggregateId) {
      return new RawRow(
          UUID.randomUUID(),
          "order",
          aggregateId,
          "OrderChanged",
          "{}".getBytes(StandardCharsets.UTF_8),
          null,
          null);
    }

    /** The message that a row like this is, with defaults for the rest (A6). */
    public OutboxMessage message() {
      return OutboxMessage.builder()
          .id(id)
          .aggregate(aggregateType, aggregateId)
          .eventType(eventType)
          .payload(payload)
          .partitionKey(partitionKey)
          .availableAt(availableAt)
          .build();
    }

    RawRow withPartitionKey(String value) {
      return new RawRow(id, aggregateType, aggregateId, eventType, payload, value, availableAt);
    }

    RawRow withAvailableAt(Instant value) {
      return new RawRow(id, aggregateType, aggregateId, eventType, payload, partitionKey, value);
    }
  }
}
