package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.assertj.core.api.AssertProvider;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what is appended, for tests that need no tables. A repeated dedup key is a duplicate, as in
 * a store. {@code assertThat(outbox)} of AssertJ says what should be there.
 *
 * <p>There are two kinds. One made by the constructor knows nothing about transactions: it keeps
 * everything at once and for good, and the transaction may be anything, also null. One made by
 * {@link #joining(Supplier)} is told how transactions end, and behaves like a table: a message is
 * seen in its own transaction at once, elsewhere after the commit, and nowhere after a rollback.
 * {@code outbox-spring-test} makes one for Spring's transactions.
 *
 * <p>Safe for use by many threads.
 *
 * @param <T> the transaction's type
 */
public final class RecordingOutbox<T> implements Outbox<T>, AssertProvider<OutboxAssert> {

  /**
   * @param transaction that has to commit before others see the message; null: it has
   */
  private record Entry(OutboxMessage message, @Nullable Object transaction) {
    boolean isOf(@Nullable Object other) {
      return transaction == other;
    }
  }

  private final List<Entry> entries = new ArrayList<>();
  private final @Nullable Supplier<? extends @Nullable T> current;
  private @Nullable RuntimeException failure;

  /** An outbox that keeps everything at once, and does not know of transactions. */
  public RecordingOutbox() {
    this(null);
  }

  private RecordingOutbox(@Nullable Supplier<? extends @Nullable T> current) {
    this.current = current;
  }

  /**
   * An outbox that is told of each transaction whether it was {@link #committed} or {@link
   * #rolledBack}.
   *
   * @param current the transaction that is active in the calling thread, or null; two transactions
   *     are the same when they are the same object
   */
  public static <T> RecordingOutbox<T> joining(Supplier<? extends @Nullable T> current) {
    return new RecordingOutbox<T>(requireNonNull(current, "current"));
  }

  /**
   * {@inheritDoc}
   *
   * @throws NoTransactionException when the transaction is null and this one knows transactions
   * @throws RuntimeException as {@link #failWith} said
   */
  @Override
  public synchronized Appended append(T transaction, List<OutboxMessage> added) {
    if (current != null && transaction == null) {
      throw new NoTransactionException(
          "the transaction is null: append in a transaction, or record with new RecordingOutbox<>(), which needs none");
    }
    Object pendingIn = current == null ? null : transaction;
    if (failure != null) {
      throw failure;
    }
    Set<UUID> duplicates = new HashSet<>();
    for (OutboxMessage message : added) {
      if (isKnown(message.dedupKey())) {
        duplicates.add(message.id());
      } else {
        entries.add(new Entry(message, pendingIn));
      }
    }
    return Appended.of(added, duplicates);
  }

  private boolean isKnown(@Nullable String dedupKey) {
    return dedupKey != null
        && entries.stream().anyMatch(entry -> dedupKey.equals(entry.message().dedupKey()));
  }

  /** From now on everybody sees what was appended in this transaction. */
  public synchronized void committed(T transaction) {
    requireNonNull(transaction, "transaction");
    entries.replaceAll(entry -> entry.isOf(transaction) ? new Entry(entry.message(), null) : entry);
  }

  /** Forgets what was appended in this transaction and not yet committed. */
  public void rolledBack(T transaction) {
    rolledBack(transaction, 0);
  }

  /**
   * As {@link #rolledBack(Object)}, to a savepoint.
   *
   * @param kept how many messages there were in this transaction at the savepoint; the first ones
   */
  public synchronized void rolledBack(T transaction, int kept) {
    requireNonNull(transaction, "transaction");
    int seen = 0;
    for (Iterator<Entry> all = entries.iterator(); all.hasNext(); ) {
      if (all.next().isOf(transaction) && seen++ >= kept) {
        all.remove();
      }
    }
  }

  /** What was appended in this transaction and not yet committed, in order; a copy. */
  public synchronized List<OutboxMessage> pending(T transaction) {
    return entries.stream().filter(entry -> entry.isOf(transaction)).map(Entry::message).toList();
  }

  /**
   * The messages that the calling thread can see, in the order of the appends: those that were
   * committed, and those of its own transaction; a copy.
   */
  public List<OutboxMessage> messages() {
    Object own = current == null ? null : current.get();
    synchronized (this) {
      return entries.stream()
          .filter(entry -> entry.isOf(null) || entry.isOf(own))
          .map(Entry::message)
          .toList();
    }
  }

  /** As {@link #messages()}, only those of an event type. */
  public List<OutboxMessage> messages(String eventType) {
    return messages().stream().filter(m -> m.eventType().equals(eventType)).toList();
  }

  /** Each append from now on throws this and keeps nothing, until {@link #clear}. */
  public synchronized void failWith(RuntimeException failure) {
    this.failure = requireNonNull(failure, "failure");
  }

  /** Forgets messages, those of open transactions too, dedup keys and failure. */
  public synchronized void clear() {
    entries.clear();
    failure = null;
  }

  /** For AssertJ: call {@code assertThat(outbox)}. */
  @Override
  public OutboxAssert assertThat() {
    return new OutboxAssert(messages());
  }
}
