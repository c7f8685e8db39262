package dev.outbox.dev.torture;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The tortured database as a process uses it, over a pool of its own. It opens connections when it
 * needs them, so that a process may begin while the database is away. What fails is an {@link
 * OutboxException}.
 *
 * @param <T> a transaction
 */
public interface Place<T> extends AutoCloseable {

  /** So long a client waits for a connection. */
  Duration PATIENCE = Duration.ofSeconds(5);

  /** Makes the outbox, and beside it what producers write: so many keys, and what was appended. */
  void create(int keys);

  /** Makes the inbox, and beside it a place for effects, which takes the same twice. */
  void createInbox();

  /** The name of a key that is there, from 0. */
  static String key(int number) {
    return "key-" + number;
  }

  OutboxStore<T> store();

  /**
   * The inbox.
   *
   * @param retention null: its default
   */
  InboxStore<T> inbox(@Nullable Duration retention);

  /** What is done in a transaction. */
  interface Doing<T> {
    /** Returns whether to commit. */
    boolean in(T transaction);
  }

  /** Commits where it says true, else rolls back; returns what it said. */
  boolean run(Doing<T> doing);

  /** Makes the effect of a message: one more each time. */
  void effect(T transaction, Enum<?> way, UUID message);

  /** All that are committed. */
  List<Effect> effects();

  /**
   * An effect that is in the database.
   *
   * @param way the name of how the message was handled
   */
  record Effect(String way, String message) {}

  /** Whether commits can return before they are durable. */
  boolean canCommitLater();

  /** Begins a transaction of a producer that appends to the store. */
  default Business begin() {
    return begin(
        (transaction, messages) ->
            Uncommitted.of(store().append(transaction, messages), () -> false));
  }

  /** Begins one that appends as a relay beside it does. */
  Business begin(Appending<T> appending);

  /** How a producer appends. */
  interface Appending<T> {
    /** What it returns is told of the commit. */
    Uncommitted append(T transaction, List<OutboxMessage> messages);
  }

  /** Somebody in the process takes all connections of the pool; begins to, and returns. */
  void exhaust(long millis);

  @Override
  void close();

  /** A business transaction; rolled back when it is closed before it is committed. */
  interface Business extends AutoCloseable {

    /** Its commit need not be durable when it returns. */
    void commitLater();

    /** Locks a key, and returns the number of its last message; all lock keys in one order. */
    int lock(String key);

    /** Appends, and returns which are duplicates. */
    Set<UUID> append(List<OutboxMessage> messages);

    /** Appends, and rolls back to before it, where a part of a transaction can be. */
    void appendInVain(List<OutboxMessage> messages);

    /** Appends as a program in another language does, standing still in the middle if it can. */
    void appendPlain(OutboxMessage message, int stallMillis);

    /** What the oracle will believe, in the same transaction: it was appended. */
    void appended(Work work, @Nullable String dedup);

    /** The same: it was refused as a duplicate. */
    void refused(UUID id, String dedup);

    /** The same: the number of a key's last message. */
    void last(String key, int number);

    void commit();

    @Override
    void close();
  }
}
