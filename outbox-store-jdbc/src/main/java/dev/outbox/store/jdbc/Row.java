package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * A message's row as a claim reads it.
 *
 * @param status the status it has
 * @param target the status it must move to before anyone may have it, or null: it can be claimed
 * @param message null when the row is to be moved
 */
public record Row(
    int bucket,
    long sequence,
    String key,
    Status status,
    @Nullable Status target,
    @Nullable StoredMessage message) {

  /** The message of a row that was claimed. */
  StoredMessage claimed() {
    return requireNonNull(message, "message");
  }

  int payloadSize() {
    return claimed().problem() != null ? 0 : claimed().message().payloadSize();
  }
}
