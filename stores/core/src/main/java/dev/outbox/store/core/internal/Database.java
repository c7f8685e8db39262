package dev.outbox.store.core.internal;

import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Flow;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What the algorithm asks of a database, in five parts. Each question is asked inside a transaction
 * of the store's own ({@link Transactions}). A database decides nothing: {@link Claims}, {@link
 * BatchReader} and {@link Settlement} do.
 *
 * @param <H> through what a transaction's statements are run
 */
public record Database<H>(
    Leases<H> leases,
    Reads<H> reads,
    Writes<H> writes,
    Administration<H> administration,
    Inspection<H> inspection) {

  public static final int BUCKETS = 64;

  static final List<Integer> ALL_BUCKETS = IntStream.range(0, BUCKETS).boxed().toList();

  /** Who holds which buckets. */
  public interface Leases<H> {

    /** The most buckets of one claim: enough to fill a batch, few enough to leave others some. */
    default int mostBuckets() {
      return 16;
    }

    /**
     * False where {@link #lease} cannot be part of a transaction that has done something already,
     * because a conflict would undo that, or its snapshot would be older than the lease. Then it is
     * only called first thing in a transaction's work, and with the same claim id again when the
     * transaction is run again: buckets that this claim has leased already must be returned too.
     */
    default boolean leasesInTransaction() {
      return true;
    }

    /**
     * Leases free buckets with work, a fair share of them but at least one, and returns them
     * longest unserved first; waits for nobody.
     *
     * @param claimId random, of one claim
     * @param most the most buckets
     */
    List<Lease> lease(H handle, UUID claimId, Claim.Request request, int most);

    /**
     * Locks, in ascending order, the buckets that the claim still holds under the same token, and
     * returns their leases as they stand now ({@link Lease#goesOn}). What they say of the bucket's
     * work is read in the same statement.
     */
    List<Lease> lockHeld(H handle, UUID claimId, Collection<Lease> leases);

    /**
     * The most messages that {@link #lockHeldAndDelete} deletes; 0 where that would not be one
     * statement.
     */
    default int mostDeletedWithLock() {
      return 0;
    }

    /**
     * As {@link #lockHeld}, and deletes delivered messages in the buckets that were locked, as
     * {@link Writes#delete}, in one statement; into the archive, where there is one. What is due
     * there is not read.
     */
    default List<Lease> lockHeldAndDelete(
        H handle, UUID claimId, Collection<Lease> leases, Collection<Claimable> delivered) {
      throw new UnsupportedOperationException();
    }

    /** Extends the leases that the claim still holds; locks buckets in ascending order. */
    Set<Integer> renew(H handle, UUID claimId, Collection<Lease> leases, Duration lease);

    /** Null where relays cannot hold buckets: then each claim leases for itself. */
    default @Nullable Holding<H> holding() {
      return null;
    }

    /** Gives buckets back, and stores what their leases' states say. */
    void release(H handle, UUID claimId, List<Release> releases);
  }

  /**
   * Which relays live, and which buckets each holds. Each has a session, and in it a lock for its
   * {@link RelayPresence} that the database drops when the session ends. Nobody waits for such a
   * lock.
   */
  public interface Holding<H> {

    /**
     * Makes this session the sign that a relay lives.
     *
     * @return false where it is not sure that the session stays the client's, as behind a pooler
     */
    boolean begin(H handle, int code);

    /** Shows another sign instead, without a moment in which there is none. */
    void change(H handle, int before, int after);

    /** Takes the sign back: a pool may keep the session for others. */
    void leave(H handle, int code);

    /**
     * Notices that the session has ended, without a statement.
     *
     * @param most how long to wait for what others {@link #announce}, where the session listens
     * @return what they did
     * @throws RuntimeException as from a statement, when the session has ended
     */
    Optional<Announcement> check(H handle, Duration most);

    /** Whether sessions can tell each other something. */
    default boolean announces() {
      return false;
    }

    /** From now on, {@link #check} hears what others announce, or does not. */
    default void listen(H handle, boolean on) {
      throw new UnsupportedOperationException();
    }

    /** Tells all that listen; waits for no disk. */
    default void announce(H handle, Announcement announcement) {
      throw new UnsupportedOperationException();
    }

    /** All buckets as they are now, and the signs of all relays after that. */
    Seen look(H handle);

    /**
     * Leases buckets that nobody has locked and that are as they were seen: their tokens are the
     * same, and what was free is free. The token alone does not say that: who had a lease that had
     * ended may have prolonged it since.
     */
    List<Lease> take(H handle, UUID claimId, Claim.Request request, Collection<SeenBucket> seen);

    /**
     * Extends leases that nobody works under, as {@link Leases#renew}. Their holder is well: what
     * was counted of holders that did not come back is forgotten (S6).
     */
    Set<Integer> hold(H handle, UUID claimId, Collection<Lease> leases, Duration lease);

    /**
     * The lease without what is remembered of its bucket: now and then, in case it should be wrong.
     */
    Lease forget(Lease lease);
  }

  /**
   * Who holds what.
   *
   * @param settled whether the server has been up for long enough for all relays to have come back
   */
  public record Seen(List<SeenBucket> buckets, List<Integer> codes, boolean settled) {}

  /**
   * A bucket as a look has it.
   *
   * @param holder a relay's number, {@link #FREE} or {@link #ANONYMOUS}
   */
  public record SeenBucket(int bucket, long token, long holder) {
    public static final long FREE = 0;

    /** The holder of a lease that names none: it lasts until its end. */
    public static final long ANONYMOUS = -1;

    public boolean isFree() {
      return holder == FREE;
    }
  }

  /**
   * A bucket given back.
   *
   * @param decided how many of its messages had a decision
   * @param settled whether something was settled under this lease: its holder came back (S6)
   * @param keepsTurn whether it had messages for which the claim had no room
   */
  public record Release(Lease lease, int decided, boolean settled, boolean keepsTurn) {}

  /** What waits in leased buckets. Of a message that is only to be moved no content is read. */
  public interface Reads<H> {

    /** The first PENDING messages of each bucket, in sequence order. */
    Pending readPending(H handle, List<Lease> leases, Limits limits);

    /**
     * Looks at buckets that are held, without locking them: the first PENDING messages of each, in
     * sequence order. It is the first statement of its transaction, or the only one.
     *
     * @param durable sequences of messages that could not be lost if the server failed now
     * @return empty when this database cannot say all that a {@link Look} says: then nothing is
     *     held any more
     */
    default Optional<Look> look(
        H handle, UUID claimId, List<Lease> leases, Limits limits, Set<Long> durable) {
      return Optional.empty();
    }

    /** The first due SCHEDULED messages of each bucket. */
    List<Row> readScheduled(H handle, List<Lease> leases, Limits limits);

    /**
     * Of each bucket's due blocked keys the head alone when it has failed before, or else the first
     * BLOCKED messages in sequence order; or that the key has none.
     */
    List<Row> readBlocked(H handle, List<Lease> leases, Limits limits);
  }

  /**
   * What a read of PENDING messages found.
   *
   * @param leases those that were read, in the same order, with the state that they have after it
   */
  public record Pending(List<Row> rows, List<Lease> leases) {}

  /**
   * What a look found.
   *
   * @param sure whether the snapshot that was read has all these leases as they were, and nothing
   *     else is due; if not, only a close look can tell what there is
   * @param durable whether nothing of what was read could be lost if the server failed now (A1)
   */
  public record Look(Pending pending, boolean sure, boolean durable) {}

  /** How much one read may bring of each bucket. */
  public record Limits(int messages, long bytes) {}

  /** What becomes of messages and keys whose buckets are held and locked. */
  public interface Writes<H> {

    /** Changes the status of rows that must move, as far as they are still there. */
    void move(H handle, Collection<ToMove> rows);

    /** Counts an attempt before it is made (S6), or takes it back; {@code by} is 1 or -1. */
    void count(H handle, Collection<Claimable> rows, int by);

    /** Whether messages that leave are archived (S7). If not, no broker's answer is asked for. */
    default boolean archives() {
      return false;
    }

    /**
     * Deletes delivered messages; into the archive, where there is one: what this transaction
     * deletes, and nothing else.
     *
     * @param leases of the buckets that are held and locked
     * @return these leases, with the states that they have then
     */
    List<Lease> delete(H handle, Collection<Lease> leases, Collection<Claimable> delivered);

    /** Records failures; returns the sequences that were changed. */
    Set<Long> fail(H handle, List<Failure> failures);

    /** Blocks keys, or prolongs their wait. */
    void block(H handle, List<Block> blocks);

    /** Makes reading blocked keys begin at these sequences, where it would begin later. */
    void lower(H handle, List<Key> keys);

    /**
     * Goes on with blocked keys that are not halted: those with BLOCKED messages are due now, the
     * others are free.
     */
    void advance(H handle, Collection<Key> keys);
  }

  /**
   * One message that failed. Nothing is changed unless the database has its attempts and its {@link
   * Claimable#availableAt} as they were claimed (S1): a settle that is repeated finds other
   * attempts, or after a requeue another time.
   *
   * @param attempts as the database must have it
   * @param attemptsAfter what it becomes
   * @param status BLOCKED or DEAD
   */
  public record Failure(
      Claimable row, int attempts, int attemptsAfter, Status status, String error) {}

  /**
   * A key that must wait.
   *
   * @param sequence its head, or the dead letter that halts it
   * @param lowSequence no BLOCKED message of the key is below
   * @param delay until the next try
   * @param halted whether it waits for a person's decision instead
   */
  public record Block(
      int bucket, String key, long sequence, long lowSequence, Duration delay, boolean halted) {}

  /** A key, and the lowest sequence that is known of it here. */
  public record Key(int bucket, String key, long sequence) {
    static Key of(Row row) {
      return new Key(row.bucket(), row.key(), row.sequence());
    }
  }

  /**
   * How far the look at dead letters came.
   *
   * @param last the last sequence that was looked at; 0 at the end of all
   * @param removed how many were removed
   */
  public record Expired(long last, int removed) {}

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
     * What only this database has to do, before everything else: the rest may wait for what it
     * frees. Each step is run in a transaction of its own.
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
      return ALL_BUCKETS;
    }

    /**
     * Puts right what BLOCKED messages of some buckets need to be found: the record of a key that
     * has none, because somebody deleted it or inserted a message as BLOCKED, or one that begins
     * above them.
     */
    void restoreBlockedKeys(H handle, List<Integer> buckets);

    /**
     * Deletes dedup keys older than the window, as many as a small transaction should.
     *
     * @return whether there may be more
     */
    boolean purgeDedup(H handle, Duration window);
  }

  /** What an entry is about, as {@link Entry#sequence} and {@link Entry#id}. */
  public record Noted(long sequence, String id) {}

  /** As {@link InspectionStore}. It changes nothing, and locks nothing. */
  public interface Inspection<H> {
    Page<Listed> messages(H handle, Query query);

    Optional<Inspected> message(H handle, long sequence);

    Page<WaitingKey> waitingKeys(H handle, boolean halted, @Nullable String after, int limit);
  }
}
