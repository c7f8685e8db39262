package dev.outbox.inbox;

import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Remembers what a consumer has handled, so that a message that arrives again has no second effect.
 *
 * <ul>
 *   <li>Effects in the inbox's database: {@link #firstTime} in the transaction of the effects. They
 *       happen exactly once.
 *   <li>Effects elsewhere, as a call of another service: {@link #begin} locks the message, and the
 *       {@link Begin.Lock} stores the result. At most one handles it at a time. The effects happen
 *       at least once: whoever crashes between the effect and {@link Begin.Lock#complete} leaves a
 *       message that is handled again.
 * </ul>
 *
 * <p>Both may be used for one key. Safe for use by many threads, each with its own transaction.
 *
 * @param <T> the transaction's type: {@code java.sql.Connection}, MongoDB's {@code ClientSession},
 *     {@code RedisTransaction}
 */
public interface Inbox<T> {

  /**
   * Records in the caller's transaction that the key is handled: among the transactions that commit
   * exactly one is told true (I1). Never commits, rolls back or closes the transaction.
   *
   * <p>While another open transaction has recorded the key, it waits for that one's end, or throws
   * a {@link TransientOutboxException} (I2). A lock of {@link #begin} that has run out, or was
   * released, is taken over.
   *
   * @param transaction an active transaction of the caller
   * @return true: handle it, in this transaction; false: it was handled, do nothing
   * @throws InProgressException when somebody has the key's lock (I5); roll back, and run the
   *     transaction again later
   * @throws NoTransactionException when no transaction is active; nothing was written
   * @throws SchemaException when the tables are missing or of another version
   * @throws TransientOutboxException when the caller's transaction failed for a reason that may
   *     pass, as a deadlock; roll back and run the whole transaction again
   * @throws PermanentOutboxException for any other failure; roll back
   * @throws RuntimeException an error of the driver's own, where the driver has to see it to run
   *     the transaction again, as MongoDB's; the store's class says so
   */
  boolean firstTime(T transaction, InboxKey key);

  /**
   * Whether a commit now would be a rollback in silence. PostgreSQL's is one after a statement that
   * failed, and its driver throws nothing: whoever caught that statement's error would take the
   * message for handled. So look before you commit, and roll back where it is true. In the
   * transaction's thread; asks nothing of the server, throws nothing. False where that is not
   * known.
   */
  default boolean hasFailed(T transaction) {
    return false;
  }

  /**
   * Locks the key, in a transaction of the inbox's own, unless it is done or somebody else has the
   * lock (I3). A lock that has run out, or was released, is taken over (I4).
   *
   * <p>While an open transaction has recorded the key with {@link #firstTime}, it waits for that
   * one's end for a while, or says that the message is in progress (I2).
   *
   * @param lock how long it lasts from this call on unless renewed, by the store's clock; from 1 ms
   *     to {@link dev.outbox.OutboxMessage#MAX_DELAY}
   * @param fingerprint of this message
   * @return what is to be done
   * @throws IllegalArgumentException when the lock is too short or too long
   * @throws SchemaException when the tables are missing or of another version
   * @throws TransientOutboxException when another try can help. Where the connection broke, the key
   *     may be locked by nobody until the lock runs out
   * @throws PermanentOutboxException for any other failure
   */
  Begin<T> begin(InboxKey key, Duration lock, Fingerprint fingerprint);

  /** The same without a fingerprint: whatever comes with this key is this message. */
  default Begin<T> begin(InboxKey key, Duration lock) {
    return begin(key, lock, Fingerprint.none());
  }

  /**
   * A view that finds the current transaction by itself, as {@link dev.outbox.Outbox#joining} does:
   * for code whose transactions are managed elsewhere, by Spring, jOOQ or JDBI.
   */
  default JoinedInbox joining(CurrentTransaction<T> current) {
    return key -> {
      boolean[] first = new boolean[1];
      Appended unused =
          current.with(
              transaction -> {
                first[0] = firstTime(transaction, key);
                return Appended.of(List.of(), Set.of());
              });
      return first[0];
    };
  }

  /** Somebody else is handling the message (I5): roll back, and run the transaction again later. */
  final class InProgressException extends TransientOutboxException {
    private static final long serialVersionUID = 1L;

    private final Duration left;

    /**
     * @param left how long until the other's lock runs out
     */
    public InProgressException(InboxKey key, Duration left) {
      super(
          "%s is being handled, and locked for %s unless that is renewed: roll back, and run the transaction again after that"
              .formatted(key, Texts.time(left)));
      this.left = left;
    }

    /**
     * How long until the other's lock runs out, by the store's clock, unless it is renewed; more
     * than zero.
     */
    public Duration left() {
      return left;
    }
  }
}
