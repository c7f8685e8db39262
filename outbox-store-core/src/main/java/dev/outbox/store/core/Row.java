package dev.outbox.store.core;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.StoredMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message's row, or document, as a claim reads it. What is written later finds it by sequence
 * <em>and</em> id: when messages were lost in a failover, or removed by hand, others may have been
 * given their sequences.
 *
 * @param status the status it has
 * @param target the status it must move to before anyone may have it, or null: it can be claimed
 * @param message null when the row is to be moved
 * @param id the message's own id as the database has it, which need not be a UUID; for MongoDB the
 *     document's. Null for a key without messages
 * @param availableAt as the database has it; a requeue changes it
 */
public record Row(
    int bucket,
    long sequence,
    String key,
    Status status,
    @Nullable Status target,
    @Nullable StoredMessage message,
    @Nullable Object id,
    @Nullable Instant availableAt) {

  /** A blocked key that is due and has no messages. */
  public static Row emptyKey(int bucket, long sequence, String key) {
    return new Row(bucket, sequence, key, Status.BLOCKED, null, null, null, null);
  }

  /** The message of a row that was claimed. */
  StoredMessage claimed() {
    return requireNonNull(message, "message");
  }

  int payloadSize() {
    return claimed().problem() != null ? 0 : claimed().message().payloadSize();
  }
}
