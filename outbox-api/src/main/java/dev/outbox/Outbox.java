package dev.outbox;

import java.util.List;
import java.util.function.Function;

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
 * @param <T> the transaction's type: {@code java.sql.Connection}, MongoDB's {@code ClientSession},
 *     {@code RedisTransaction}
 */
public interface Outbox<T> {

  /**
   * Appends messages, in list order. Never commits, rolls back or closes the transaction (A2).
   *
   * <p>A connection with auto-commit off counts as an active transaction, also after a commit, and
   * when it comes so from a pool: nothing shows whether anybody will commit it. When nobody does,
   * the messages are lost.
   *
   * @param transaction an active transaction of the caller
   * @param messages may be empty
   * @return which were stored, and which were duplicates
   * @throws NoTransactionException when no transaction is active; nothing was written
   * @throws SchemaException when the tables are missing or of another version
   * @throws InvalidMessageException when a message expires, and the store lets none expire (C10)
   * @throws TransientOutboxException when the caller's transaction failed for a reason that may
   *     pass, as a deadlock; roll back and run the whole transaction again
   * @throws PermanentOutboxException for any other failure, as of a read-only transaction; roll
   *     back
   * @throws RuntimeException an error of the driver's own, where the driver has to see it to run
   *     the transaction again, as MongoDB's; the store's class says so
   */
  Appended append(T transaction, List<OutboxMessage> messages);

  /** Appends one message; otherwise as {@link #append(Object, List)}. */
  default Appended append(T transaction, OutboxMessage message) {
    return append(transaction, List.of(message));
  }

  /**
   * A view that finds the current transaction by itself, for code whose transactions are managed
   * elsewhere: Spring, jOOQ, JDBI.
   */
  default JoinedOutbox joining(CurrentTransaction<T> current) {
    return messages -> current.with(transaction -> append(transaction, messages));
  }

  /**
   * Finds the active transaction, for an append or for an inbox ({@link
   * dev.outbox.inbox.Inbox#joining}). It is one line for each library: {@code docs/start.md} has
   * those for JDBI and jOOQ.
   *
   * @param <T> the transaction's type
   */
  @FunctionalInterface
  interface CurrentTransaction<T> {

    /**
     * Calls {@code append} once with the active transaction and returns its result. Throws {@link
     * NoTransactionException}, or lets the append throw it, when none is active.
     */
    Appended with(Function<T, Appended> append);
  }
}
