package dev.outbox.store.core;

import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.LeaseStore;
import dev.outbox.spi.LeaseStore.RelayLease;
import dev.outbox.spi.StatisticsStore;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.spi.WarningStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * What a claim, a settle and the rest ask of a database, each inside a transaction of the store's
 * own ({@link Transactions}). Nothing here decides anything; {@link BucketStore} has the algorithm.
 *
 * @param <H> through what a transaction's statements are run
 */
public interface Statements<H> {

  /** How many buckets there are. */
  int BUCKETS = 64;

  /** The most buckets of one claim: enough to fill a batch, few enough to leave others some. */
  default int mostBuckets() {
    return 16;
  }

  /**
   * False where {@link #lease} cannot be part of a transaction that has done something already,
   * because a conflict would undo that, or its snapshot would be older than the lease. Then it is
   * only called first thing in a transaction's work, and with the same owner again when the
   * transaction is run again: buckets that this owner has leased already must be returned too.
   */
  default boolean leasesInTransaction() {
    return true;
  }

  /**
   * Leases free buckets with work, a fair share of them but at least one, and returns them longest
   * unserved first; waits for nobody. The mark of a bucket whose last lease ran out is forgotten,
   * and so are all from before the sequence was restarted.
   *
   * @param owner random, new for each claim
   * @param most the most buckets
   */
  List<Lease> lease(H handle, UUID owner, ClaimRequest request, int most);

  /** Extends the leases that are still held by the owner; locks buckets in ascending order. */
  Set<Integer> renew(H handle, UUID owner, Collection<Lease> leases, Duration lease);

  /**
   * Locks, in ascending order, the buckets that are still held by the owner under the same token,
   * and returns them. What they say of the bucket's work is read in the same statement.
   */
  List<Held> lockHeld(H handle, UUID owner, Collection<Lease> leases);

  /**
   * A bucket that is ours and locked.
   *
   * @param left until the lease ends; may be negative
   * @param scheduled whether SCHEDULED messages are due
   * @param blocked whether blocked keys are due
   * @param transaction the id of this transaction, which grows from one that writes to the next; 0
   *     where the database has none, and marks are not used
   * @param history what sequences and transactions' ids belong to ({@link Mark#history}); empty
   *     where marks are not used
   */
  record Held(
      int bucket,
      Duration left,
      boolean scheduled,
      boolean blocked,
      long transaction,
      String history) {}

  /** Gives buckets back, and stores their marks. */
  void release(H handle, UUID owner, List<Release> releases);

  /**
   * A bucket given back.
   *
   * @param decided how many of its messages had a decision
   * @param settled whether something was settled under this lease: its holder came back (S6)
   * @param keepsTurn whether it had messages for which the claim had no room
   */
  record Release(Lease lease, int decided, boolean settled, boolean keepsTurn) {}

  /**
   * The first PENDING messages of each bucket from its mark on, in sequence order; those of blocked
   * keys without content.
   */
  Pending readPending(H handle, List<Lease> leases, Limits limits);

  /**
   * What a read of PENDING messages saw.
   *
   * @param horizon as its snapshot has it, all other transactions with a lower id are over; 0 where
   *     the database has no such thing, and marks are not used
   */
  record Pending(List<Row> rows, long horizon) {}

  /** The first due SCHEDULED messages of each bucket; those of blocked keys without content. */
  List<Row> readScheduled(H handle, List<Lease> leases, Limits limits);

  /**
   * Of each bucket's due blocked keys the head alone when it has failed before, or else the first
   * BLOCKED messages in sequence order. A key without BLOCKED messages comes as a row without
   * message.
   */
  List<Row> readBlocked(H handle, List<Lease> leases, Limits limits);

  /** How much one read may bring of each bucket. */
  record Limits(int messages, long bytes) {}

  /** Changes the status of rows that a read said must move, as far as they are still there. */
  void move(H handle, Collection<Row> rows);

  /** Counts an attempt before it is made (S6), or takes it back; {@code by} is 1 or -1. */
  void count(H handle, Collection<Row> rows, int by);

  /** Deletes delivered messages. */
  void delete(H handle, Collection<Row> rows);

  /**
   * One message that failed. Nothing is changed unless the database has its attempts and its {@link
   * Row#availableAt} as they were claimed (S1): a settle that is repeated finds other attempts, or
   * after a requeue another time.
   *
   * @param attempts as the database must have it
   * @param attemptsAfter what it becomes
   * @param status BLOCKED or DEAD
   */
  record Failure(Row row, int attempts, int attemptsAfter, Status status, String error) {}

  /** Records failures; returns the sequences that were changed. */
  Set<Long> fail(H handle, List<Failure> failures);

  /**
   * A key that must wait.
   *
   * @param sequence its head, or the dead letter that halts it
   * @param lowSequence no BLOCKED message of the key is below
   * @param delay until the next try
   * @param halted whether it waits for a person's decision instead
   */
  record Block(
      int bucket, String key, long sequence, long lowSequence, Duration delay, boolean halted) {}

  /** Blocks keys, or prolongs their wait. */
  void block(H handle, List<Block> blocks);

  /** A key, and the lowest sequence that is known of it here. */
  record Key(int bucket, String key, long sequence) {}

  /** Makes reading blocked keys begin at these sequences, where it would begin later. */
  void lower(H handle, List<Key> keys);

  /**
   * Goes on with blocked keys that are not halted: those with BLOCKED messages are due now, the
   * others are free.
   */
  void advance(H handle, Collection<Key> keys);

  /** As {@link DeadLetterStore#deadLetters}. */
  List<DeadLetter> deadLetters(H handle, long afterSequence, int limit);

  /** As {@link DeadLetterStore#requeue}. */
  boolean requeue(H handle, long sequence);

  /** As {@link DeadLetterStore#discard}. */
  boolean discard(H handle, long sequence);

  /** As {@link StatisticsStore#statistics}. */
  Statistics statistics(H handle);

  /** As {@link WarningStore#warnings}. */
  default List<String> warnings(H handle) {
    return List.of();
  }

  /** As {@link LeaseStore#leases}. */
  List<RelayLease> leases(H handle);

  /**
   * Ends clients that stopped in the middle of a transaction that holds buckets, where the database
   * does not see to it by itself (C4).
   */
  default void endStalled(H handle, Duration longerThan) {}

  /** Lets keys go that are halted by a dead letter which somebody deleted with plain SQL. */
  void freeHaltedByNothing(H handle);

  /**
   * Puts right what somebody did to emptied tables: puts back bucket rows that were deleted (E1),
   * and forgets marks that lie beyond the sequence because it was restarted.
   *
   * @return whether anything was wrong
   */
  boolean restore(H handle);

  /**
   * Puts right what BLOCKED messages of some buckets need to be found: the record of a key that has
   * none, because somebody deleted it or inserted a message as BLOCKED, or one that begins above
   * them.
   */
  void restoreBlockedKeys(H handle, List<Integer> buckets);

  /** Forgets a bucket's mark: the read after its next lease begins at the first message. */
  void forgetMark(H handle, int bucket);

  /**
   * Where the sequence lags behind the messages, as after a restore or at the end of a logical
   * replication, sets it and forgets all marks.
   */
  void catchUpSequence(H handle);

  /**
   * Deletes dedup keys older than the window, as many as a small transaction should.
   *
   * @return whether there may be more
   */
  boolean purgeDedup(H handle, Duration window);
}
