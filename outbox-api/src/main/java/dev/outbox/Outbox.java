package dev.outbox;

import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Appends messages in the caller's own transaction: they become visible to relays if and only if
 * that transaction commits (A1).
 *
 * <p>Messages of one key are delivered in the order of their append, provided that writers of one
 * key are serialised before they append: lock the aggregate's row, or check its version, first
 * (O5).
 *
 * <p>Safe for use by many threads, each with its own transaction.
 *
 * @param <T> the transaction's type: {@code java.sql.Connection}, Mongo's {@code ClientSession}
 */
public interface Outbox<T> {

  /**
   * Appends messages, in list order. Never commits, rolls back or closes the transaction (A2).
   *
   * @param transaction an active transaction of the caller
   * @param messages may be empty
   * @return the ids of the messages that were <em>not</em> stored, because their dedup key had been
   *     appended before within the dedup window (A4); empty as a rule
   * @throws NoTransactionException when no transaction is active; nothing was written
   * @throws SchemaException when the tables are missing or of another version
   * @throws TransientOutboxException when the caller's transaction failed for a reason that may
   *     pass, as a deadlock; roll back and run the whole transaction again
   * @throws OutboxException for any other failure; roll back
   */
  Set<UUID> append(T transaction, List<OutboxMessage> messages);

  /**
   * Appends one message; otherwise as {@link #append(Object, List)}.
   *
   * @return false when it was a duplicate and was not stored
   */
  default boolean append(T transaction, OutboxMessage message) {
    return append(transaction, List.of(message)).isEmpty();
  }

  /**
   * A view that finds the current transaction by itself, for code whose transactions are managed
   * elsewhere: Spring, jOOQ, JDBI.
   */
  default JoinedOutbox joining(CurrentTransaction<T> current) {
    return messages -> current.with(transaction -> append(transaction, messages));
  }
}
