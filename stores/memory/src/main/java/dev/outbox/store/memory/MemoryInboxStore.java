package dev.outbox.store.memory;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.memory.InboxEntry.State;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The contract of {@code SPEC.md} for inboxes in memory, and nothing else: to read first, to
 * compare other stores with, and to test with. Nothing survives the process.
 *
 * <p>How it works. One lock around everything, which is that of the {@link MemoryOutboxStore}
 * beside it, so that both join one transaction; an {@link InboxEntry} for each key.
 *
 * <ol>
 *   <li>firstTime puts an entry that is done at once, and tells the transaction how to undo that
 *       (I1). Until the transaction ends, whoever wants the key waits for it (I2).
 *   <li>begin puts one with a lock, unless there is one: that is done (I6), locked (I3, I5), or of
 *       another message (I7). A lock that ran out or was released is taken over: the entry gets
 *       another token (I4).
 *   <li>What a lock does changes only an entry that is started and has the lock's token.
 *   <li>Purging removes what has expired. An entry expires a retention after it was done, after its
 *       lock ends, or after it was released; so a live lock never has (I8).
 * </ol>
 *
 * <p>The class is not final, and some steps are not private, for the sake of the broken inboxes in
 * the tests of {@code outbox-tck}.
 */
public class MemoryInboxStore implements InboxStore<MemoryTransaction> {
  final MemoryOutboxStore database;
  final Duration retention;
  final Map<InboxKey, InboxEntry> entries = new HashMap<>();

  /** By key, the transaction that changed it last, where that was one of a caller. */
  private final Map<InboxKey, MemoryTransaction> writers = new HashMap<>();

  /** An inbox with a database of its own, and the {@link #DEFAULT_RETENTION}. */
  public MemoryInboxStore() {
    this(new MemoryOutboxStore(), DEFAULT_RETENTION);
  }

  /**
   * @param database whose transactions are joined, and whose clock counts
   * @param retention how long a key is remembered after it was done (I8)
   */
  public MemoryInboxStore(MemoryOutboxStore database, Duration retention) {
    this.database = requireNonNull(database, "database");
    this.retention = InboxStore.checkedRetention(retention);
  }

  /** Where transactions begin. */
  public MemoryOutboxStore database() {
    return database;
  }

  /** Removes everything; locks from before change nothing any more. */
  public void clear() {
    synchronized (database) {
      entries.clear();
      writers.clear();
    }
  }

  @Override
  public boolean firstTime(MemoryTransaction transaction, InboxKey key) {
    synchronized (database) {
      database.requireOpen(transaction);
      InboxEntry entry = awaitEntry(transaction, key);
      if (entry != null && entry.state() == State.DONE) {
        return false;
      }
      Instant now = now();
      if (entry != null && isLocked(entry, now)) {
        throw new InProgressException(key, left(entry, now));
      }
      put(
          transaction,
          key,
          InboxEntry.started(entry, Fingerprint.none(), now, now)
              .done(InboxResult.none(), expiry(now)));
      return true;
    }
  }

  @Override
  public Begin<MemoryTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    synchronized (database) {
      Duration checked = InboxStore.checkedLock(lock);
      InboxEntry entry = awaitEntry(null, key);
      Instant now = now();
      if (entry != null) {
        if (differ(fingerprint, entry)) {
          return new Begin.Mismatch<>();
        }
        if (entry.state() == State.DONE) {
          return new Begin.Done<>(entry.result());
        }
        if (isLocked(entry, now)) {
          return new Begin.InProgress<>(left(entry, now));
        }
      }
      Instant end = now.plus(checked);
      InboxEntry started = InboxEntry.started(entry, fingerprint, end, expiry(end));
      put(null, key, started);
      return new Begin.Started<>(new MemoryLock(key, started));
    }
  }

  boolean differ(Fingerprint fingerprint, InboxEntry entry) {
    return fingerprint.differsFrom(entry.fingerprint());
  }

  boolean isLocked(InboxEntry entry, Instant now) {
    return entry.state() == State.STARTED && entry.lockUntil().isAfter(now);
  }

  private static Duration left(InboxEntry entry, Instant now) {
    return Duration.between(now, entry.lockUntil());
  }

  Instant expiry(Instant from) {
    return from.plus(retention);
  }

  /**
   * The key's entry, when no other transaction has changed it and is still open.
   *
   * @param transaction the caller's, or null
   */
  @Nullable InboxEntry awaitEntry(@Nullable MemoryTransaction transaction, InboxKey key) {
    for (MemoryTransaction writer = writers.get(key);
        writer != null && writer.active && writer != transaction;
        writer = writers.get(key)) {
      writer.awaitEnd(transaction);
    }
    return entries.get(key);
  }

  /** Changes an entry, in the caller's transaction where there is one. */
  void put(@Nullable MemoryTransaction transaction, InboxKey key, InboxEntry entry) {
    InboxEntry before = entries.put(key, entry);
    if (transaction != null) {
      writers.put(key, transaction);
      transaction.undo.push(
          () -> {
            if (before == null) {
              entries.remove(key, entry);
            } else {
              entries.replace(key, entry, before);
            }
          });
    }
  }

  boolean holds(UUID token, @Nullable InboxEntry entry) {
    return entry != null && entry.state() == State.STARTED && entry.token().equals(token);
  }

  private final class MemoryLock implements Lock<MemoryTransaction> {
    private final InboxKey key;
    private final UUID token;
    private final int attempts;

    MemoryLock(InboxKey key, InboxEntry started) {
      this.key = key;
      token = started.token();
      attempts = started.attempts();
    }

    @Override
    public InboxKey key() {
      return key;
    }

    @Override
    public int attempts() {
      return attempts;
    }

    @Override
    public boolean renew(Duration lock) {
      synchronized (database) {
        Duration checked = InboxStore.checkedLock(lock);
        InboxEntry entry = awaitEntry(null, key);
        boolean holds = holds(token, entry);
        if (holds) {
          Instant end = now().plus(checked);
          put(null, key, requireNonNull(entry).renewed(end, expiry(end)));
        }
        return holds;
      }
    }

    @Override
    public boolean complete(InboxResult result) {
      synchronized (database) {
        return end(null, State.DONE, entry -> entry.done(result, expiry(now())));
      }
    }

    @Override
    public boolean complete(MemoryTransaction transaction, InboxResult result) {
      synchronized (database) {
        database.requireOpen(transaction);
        return end(transaction, State.DONE, entry -> entry.done(result, expiry(now())));
      }
    }

    @Override
    public boolean release(String error) {
      synchronized (database) {
        String clean = Texts.clean(error);
        return end(null, State.FAILED, entry -> entry.failed(clean, now(), expiry(now())));
      }
    }

    /** Says true also when this lock did the same before. */
    private boolean end(
        @Nullable MemoryTransaction transaction, State end, UnaryOperator<InboxEntry> how) {
      InboxEntry entry = awaitEntry(transaction, key);
      if (holds(token, entry)) {
        put(transaction, key, how.apply(requireNonNull(entry)));
        return true;
      }
      return entry != null && entry.state() == end && entry.token().equals(token);
    }
  }

  @Override
  public void housekeep() {
    synchronized (database) {
      Instant now = now();
      entries
          .entrySet()
          .removeIf(e -> !isBeingChanged(e.getKey()) && mayBeForgotten(e.getValue(), now));
      writers.values().removeIf(writer -> !writer.active);
    }
  }

  boolean isBeingChanged(InboxKey key) {
    MemoryTransaction writer = writers.get(key);
    return writer != null && writer.active;
  }

  boolean mayBeForgotten(InboxEntry entry, Instant now) {
    return !entry.expiresAt().isAfter(now);
  }

  @Override
  public InboxStatistics statistics(int cap) {
    synchronized (database) {
      int most = StatisticsStore.checked(cap);
      Instant now = now();
      long started = count(State.STARTED);
      long locked = entries.values().stream().filter(entry -> isLocked(entry, now)).count();
      return new InboxStatistics(
          cap,
          Math.min(most, locked),
          Math.min(most, started - locked),
          Math.min(most, count(State.FAILED)));
    }
  }

  private long count(State state) {
    return entries.values().stream().filter(entry -> entry.state() == state).count();
  }

  Instant now() {
    return database.now();
  }
}
