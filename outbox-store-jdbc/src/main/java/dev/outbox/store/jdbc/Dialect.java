package dev.outbox.store.jdbc;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.StatisticsStore;
import dev.outbox.spi.StatisticsStore.Statistics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * What differs from database to database: statements, types and error numbers. Every method but
 * {@link #append} and {@link #schemaVersion} runs inside a transaction of the store's own that
 * {@link #begin} opened. Nothing here decides anything; {@link JdbcOutboxStore} has the algorithm.
 */
public interface Dialect {

  /** What a failed statement means. */
  enum Trouble {
    /** A deadlock or the like: the library runs its own transaction again. */
    CONFLICT,
    /** There is no connection to be had. */
    UNREACHABLE,
    /** The statement or the connection was ended from outside: a time limit, a shutdown. */
    CUT_OFF,
    /** Wrong user, password or database. */
    REFUSED,
    MISSING_SCHEMA,
    READ_ONLY,
    /** An earlier statement of the caller's transaction failed. */
    FAILED_BEFORE,
    OTHER
  }

  /** How many buckets there are. */
  int BUCKETS = 64;

  /** The most buckets of one claim: enough to fill a batch, few enough to leave others some. */
  default int mostBuckets() {
    return 16;
  }

  /** The database's name in error texts. */
  String name();

  /** Where in the class path the Liquibase changelog is; formatted SQL with ${q} and ${p}. */
  String changelog();

  /** What else the changelog has between ${ and }. */
  default Map<String, String> changelogParameters() {
    return Map.of();
  }

  /** Sorts a failure. */
  Trouble trouble(SQLException failure);

  /** What to do about a failure that is {@link Trouble#OTHER}, where that is known; or null. */
  default @Nullable String advice(SQLException failure) {
    return null;
  }

  /** Sets what the driver needs for all statements of the store's own transactions. */
  default void configure(Jdbi jdbi) {}

  /**
   * Prepares the transaction that has just begun.
   *
   * @param patience after this long without a sign of the client the database ends the transaction
   *     by itself, so that a stalled client holds no bucket (C4)
   */
  void begin(Connection connection, Duration patience) throws SQLException;

  /** Puts back what {@link #begin} set beyond the transaction, which is over. */
  default void end(Connection connection) throws SQLException {}

  /**
   * The version that the schema says it has; 0 when it says none.
   *
   * @throws dev.outbox.OutboxException when the database cannot hold every message
   */
  int schemaVersion(Connection connection) throws SQLException;

  /**
   * Appends on the caller's connection, in as few round trips as the database allows.
   *
   * @return the ids of the duplicates
   */
  Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException;

  /**
   * Leases free buckets with work, a fair share of them but at least one, and returns them longest
   * unserved first; waits for nobody. The mark of a bucket whose last lease ran out is forgotten,
   * and so are all from before the sequence was restarted.
   *
   * @param owner random, new for each claim
   * @param most the most buckets
   */
  List<Lease> lease(Handle handle, UUID owner, ClaimRequest request, int most);

  /** Extends the leases that are still held by the owner; locks buckets in ascending order. */
  Set<Integer> renew(Handle handle, UUID owner, Collection<Lease> leases, Duration lease);

  /**
   * Locks, in ascending order, the buckets that are still held by the owner under the same token,
   * and returns them. What they say of the bucket's work is read in the same statement.
   */
  List<Held> lockHeld(Handle handle, UUID owner, Collection<Lease> leases);

  /**
   * A bucket that is ours and locked.
   *
   * @param left until the lease ends; may be negative
   * @param scheduled whether SCHEDULED messages are due
   * @param blocked whether blocked keys are due
   * @param transaction the id of this transaction, which grows from one that writes to the next; 0
   *     where the database has none, and marks are not used
   */
  record Held(int bucket, Duration left, boolean scheduled, boolean blocked, long transaction) {}

  /** Gives buckets back, and stores their marks. */
  void release(Handle handle, UUID owner, List<Release> releases);

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
  Pending readPending(Handle handle, List<Lease> leases, Limits limits);

  /**
   * What a read of PENDING messages saw.
   *
   * @param horizon as its snapshot has it, all other transactions with a lower id are over; 0 where
   *     the database has no such thing, and marks are not used
   */
  record Pending(List<Row> rows, long horizon) {}

  /** The first due SCHEDULED messages of each bucket; those of blocked keys without content. */
  List<Row> readScheduled(Handle handle, List<Lease> leases, Limits limits);

  /**
   * Of each bucket's due blocked keys the head alone when it has failed before, or else the first
   * BLOCKED messages in sequence order. A key without BLOCKED messages comes as a row without
   * message.
   */
  List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits);

  /** How much one read may bring of each bucket. */
  record Limits(int messages, long bytes) {}

  /** Changes the status of rows that a read said must move. */
  void move(Handle handle, Collection<Row> rows);

  /** Counts an attempt before it is made (S6), or takes it back; {@code by} is 1 or -1. */
  void count(Handle handle, Collection<Row> rows, int by);

  /** Deletes delivered messages. */
  void delete(Handle handle, Collection<Row> rows);

  /**
   * One message that failed.
   *
   * @param attempts as the table must have it, or else nothing is changed (S1)
   * @param attemptsAfter what it becomes
   * @param status BLOCKED or DEAD
   */
  record Failure(Row row, int attempts, int attemptsAfter, Status status, String error) {}

  /** Records failures; returns the sequences that were changed. */
  Set<Long> fail(Handle handle, List<Failure> failures);

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
  void block(Handle handle, List<Block> blocks);

  /** A key, and the lowest sequence that is known of it here. */
  record Key(int bucket, String key, long sequence) {}

  /** Makes reading blocked keys begin at these sequences, where it would begin later. */
  void lower(Handle handle, List<Key> keys);

  /**
   * Goes on with blocked keys that are not halted: those with BLOCKED messages are due now, the
   * others are free.
   */
  void advance(Handle handle, Collection<Key> keys);

  /** As {@link DeadLetterStore#deadLetters}. */
  List<DeadLetter> deadLetters(Handle handle, long afterSequence, int limit);

  /** As {@link DeadLetterStore#requeue}. */
  boolean requeue(Handle handle, long sequence);

  /** As {@link DeadLetterStore#discard}. */
  boolean discard(Handle handle, long sequence);

  /** As {@link StatisticsStore#statistics}. */
  Statistics statistics(Handle handle);

  /** Lets keys go that are halted by a dead letter which somebody deleted with plain SQL. */
  void freeHaltedByNothing(Handle handle);

  /**
   * Puts right what somebody did to emptied tables: puts back bucket rows that were deleted (E1),
   * with them the blocked keys that BLOCKED messages need, and forgets marks that lie beyond the
   * sequence because it was restarted.
   *
   * @return whether anything was wrong
   */
  boolean restore(Handle handle);

  /** Forgets a bucket's mark: the read after its next lease begins at the first message. */
  void forgetMark(Handle handle, int bucket);

  /**
   * Where the sequence lags behind the messages, as after a restore or at the end of a logical
   * replication, sets it and forgets all marks.
   */
  void catchUpSequence(Handle handle);

  /** How many dedup keys are purged at once. */
  int PURGE = 10_000;

  /** Deletes at most {@link #PURGE} dedup keys older than the window; returns how many. */
  int purgeDedup(Handle handle, Duration window);
}
