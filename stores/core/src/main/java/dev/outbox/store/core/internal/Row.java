package dev.outbox.store.core.internal;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a read found: a message that may be claimed or must be moved, or a key without messages. */
public sealed interface Row {
  int bucket();

  long sequence();

  String key();

  /**
   * A message's row, or document. What is written later finds it by sequence <em>and</em> id:
   * docs/design/relational.md says why.
   */
  sealed interface OfMessage extends Row {

    Status status();

    /**
     * The message's own id as the database has it, which need not be a UUID; for MongoDB the
     * document's.
     */
    Object id();
  }

  /**
   * A message that may be handed out.
   *
   * @param availableAt as the database has it; a requeue changes it
   * @param answer what the broker answered, of a message that was delivered and is archived; else
   *     null
   */
  record Claimable(
      int bucket,
      long sequence,
      String key,
      Status status,
      Object id,
      StoredMessage message,
      @Nullable Instant availableAt,
      @Nullable String answer)
      implements OfMessage {

    /** A message as it is read: without an answer. */
    public Claimable(
        int bucket,
        long sequence,
        String key,
        Status status,
        Object id,
        StoredMessage message,
        @Nullable Instant availableAt) {
      this(bucket, sequence, key, status, id, message, availableAt, null);
    }

    /** A message as it was delivered: with the broker's answer. */
    Claimable answered(@Nullable String brokersAnswer) {
      return new Claimable(bucket, sequence, key, status, id, message, availableAt, brokersAnswer);
    }

    int payloadSize() {
      return message.problem() != null ? 0 : message.message().payloadSize();
    }
  }

  /**
   * A message that must get another status before anyone may have it.
   *
   * @param target BLOCKED when its key is blocked, SCHEDULED when it is not due
   */
  record ToMove(int bucket, long sequence, String key, Status status, Object id, Status target)
      implements OfMessage {}

  /**
   * A blocked key that is due and has no messages.
   *
   * @param sequence no BLOCKED message of the key was below
   */
  record EmptyKey(int bucket, long sequence, String key) implements Row {}
}
