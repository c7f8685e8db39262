package dev.outbox.store.core;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * A message's row, or document, as a claim reads it.
 *
 * @param status the status it has
 * @param target the status it must move to before anyone may have it, or null: it can be claimed
 * @param message null when the row is to be moved
 * @param id what the database finds the row by where that is not bucket and sequence; null there
 */
public record Row(
    int bucket,
    long sequence,
    String key,
    Status status,
    @Nullable Status target,
    @Nullable StoredMessage message,
    @Nullable Object id) {

  /** One that is found by bucket and sequence. */
  public Row(
      int bucket,
      long sequence,
      String key,
      Status status,
      @Nullable Status target,
      @Nullable StoredMessage message) {
    this(bucket, sequence, key, status, target, message, null);
  }

  /** The message of a row that was claimed. */
  StoredMessage claimed() {
    return requireNonNull(message, "message");
  }

  int payloadSize() {
    return claimed().problem() != null ? 0 : claimed().message().payloadSize();
  }
}
