package dev.outbox.store.memory;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One message, from append until it is delivered or discarded. */
final class Row {
  static final Instant ALWAYS = Instant.MIN;

  final long sequence;
  final String key;
  final Instant createdAt;

  /** Null when it cannot be decoded (C7). */
  final @Nullable OutboxMessage message;

  /** {@link #ALWAYS}, unless it was delayed or retried. */
  Instant dueAt;

  int attempts;
  @Nullable String error;
  @Nullable Instant failedAt;

  /** It was given a retry since it was appended or requeued: it comes alone, and others wait. */
  boolean failed;

  boolean dead;
  boolean haltsKey;

  Row(long sequence, String key, Instant createdAt, @Nullable OutboxMessage message) {
    this.sequence = sequence;
    this.key = key;
    this.createdAt = createdAt;
    this.message = message == null ? null : message.appendedAt(createdAt);
    Instant availableAt = this.message == null ? null : this.message.availableAt();
    this.dueAt = availableAt == null ? ALWAYS : availableAt;
  }

  boolean isDue(Instant now) {
    return !dueAt.isAfter(now);
  }

  /** Since when it has been due. */
  Instant waitsSince() {
    return dueAt.isAfter(createdAt) ? dueAt : createdAt;
  }

  int size() {
    return message == null ? 0 : message.payloadSize();
  }

  StoredMessage toStored() {
    return message != null
        ? StoredMessage.of(sequence, attempts, createdAt, message)
        : StoredMessage.undecodable(sequence, key, null, attempts, createdAt, "it was damaged");
  }

  /** With an empty payload and no headers. */
  StoredMessage toStoredWithoutContent() {
    return message != null
        ? StoredMessage.of(sequence, attempts, createdAt, withoutContent(message))
        : toStored();
  }

  private static OutboxMessage withoutContent(OutboxMessage m) {
    return OutboxMessage.builder()
        .id(m.id())
        .aggregate(m.aggregateType(), m.aggregateId())
        .eventType(m.eventType())
        .partitionKey(m.partitionKey())
        .payload(new byte[0])
        .contentType(m.contentType())
        .dedupKey(m.dedupKey())
        .correlationId(m.correlationId())
        .availableAt(m.availableAt())
        .expiresAt(m.expiresAt())
        .maxAttempts(m.maxAttempts())
        .build();
  }
}
