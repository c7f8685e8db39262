package dev.outbox.store.core.internal;

import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Flow;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What people and housekeeping ask. A method without a comment does as that of {@link
 * DeadLetterStore}, {@link ArchiveStore}, {@link PauseStore} or {@link StatisticsStore}. What is
 * removed goes into the archive, where there is one.
 */
public interface Administration<H> {
  List<DeadLetter> deadLetters(H handle, long afterSequence, int limit);

  Set<Long> requeue(H handle, Set<Long> sequences, @Nullable Who by);

  Set<Long> discard(H handle, Set<Long> sequences, @Nullable Who by);

  /**
   * A claim locks a bucket before it reads what is SCHEDULED in it. So a message that is not due
   * once its bucket is locked here was in no claim, and will be in none.
   */
  Set<Long> cancel(H handle, Set<Long> sequences, @Nullable Who by);

  /** Removes messages that expired (C10), which this transaction has made dead letters. */
  void expire(H handle, Collection<Claimable> expired);

  /** Writes an entry about each into the audit. */
  default void note(H handle, Action action, Who by, List<Noted> about) {
    throw new UnsupportedOperationException();
  }

  default List<Entry> audit(H handle, Instant from, int limit) {
    throw new UnsupportedOperationException();
  }

  /**
   * @param name as {@link PauseStore#name}
   */
  void pause(H handle, String name, Who by);

  boolean resume(H handle, String name);

  List<Pause> pauses(H handle);

  default List<Archived> archived(H handle, Search search, int limit) {
    throw new UnsupportedOperationException();
  }

  /**
   * Makes room for the next days in the archive, and removes what is older than its retention, as
   * much as a small transaction should.
   *
   * @return whether there may be more
   */
  default boolean keepArchive(H handle, Duration retention) {
    throw new UnsupportedOperationException();
  }

  /**
   * Looks at the next dead letters, and removes those that died longer ago than this and halt no
   * key: a key that is halted waits for a person (O3).
   *
   * @param after the last sequence that was looked at
   */
  default Expired expireDeadLetters(H handle, long after, Duration retention) {
    throw new UnsupportedOperationException();
  }

  /**
   * @param relays how many live; null where that cannot be seen
   */
  Statistics statistics(H handle, int cap, @Nullable Integer relays);

  default Optional<Flow> flow(H handle) {
    return Optional.empty();
  }

  default List<Finding> findings(H handle) {
    return List.of();
  }

  List<WorkerLease> leases(H handle);

  /**
   * What only this database has to do, before everything else: the rest may wait for what it frees.
   * Each step is run in a transaction of its own.
   *
   * @param round how often housekeeping was done before
   * @param lease how long the leases are that claims ask for
   */
  default List<Consumer<H>> ownSteps(int round, Duration lease) {
    return List.of();
  }

  /** Lets keys go that are halted by a dead letter which somebody deleted with plain SQL. */
  void freeHaltedByNothing(H handle);

  /**
   * Puts back bucket rows that somebody deleted (E1).
   *
   * @return whether any was missing
   */
  boolean restore(H handle);

  /** The buckets that have BLOCKED messages; where that costs more than it saves, all. */
  default List<Integer> blockedBuckets(H handle) {
    return Database.ALL_BUCKETS;
  }

  /**
   * Puts right what BLOCKED messages of some buckets need to be found: the record of a key that has
   * none, because somebody deleted it or inserted a message as BLOCKED, or one that begins above
   * them.
   */
  void restoreBlockedKeys(H handle, List<Integer> buckets);

  /**
   * Deletes dedup keys older than the window, as many as a small transaction should.
   *
   * @return whether there may be more
   */
  boolean purgeDedup(H handle, Duration window);

  /**
   * How far the look at dead letters came.
   *
   * @param last the last sequence that was looked at; 0 at the end of all
   * @param removed how many were removed
   */
  record Expired(long last, int removed) {}

  /** What an entry is about, as {@link Entry#sequence} and {@link Entry#id}. */
  record Noted(long sequence, String id) {}
}
