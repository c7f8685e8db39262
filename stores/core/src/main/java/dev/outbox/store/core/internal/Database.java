package dev.outbox.store.core.internal;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
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

    /**
     * Writes something to the log, so that the commit of what was read waits for the disk (A1).
     *
     * @return whether the claim still holds all of these
     */
    default boolean makeDurable(H handle, UUID claimId, Collection<Lease> read, Duration lease) {
      return renew(handle, claimId, read, lease).size() == read.size();
    }

    /** Null where relays cannot hold buckets: then each claim leases for itself. */
    default @Nullable Holding<H> holding() {
      return null;
    }

    /** Gives buckets back, and stores what their leases' states say. */
    void release(H handle, UUID claimId, List<Release> releases);
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
}
