package dev.outbox.store.core;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.Decision;
import dev.outbox.spi.HousekeepingStore;
import dev.outbox.spi.LeaseStore;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.PooledStore;
import dev.outbox.spi.SchemaStore;
import dev.outbox.spi.StatisticsStore;
import dev.outbox.spi.WarningStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The algorithm of our stores.
 *
 * <p>A key belongs to one of {@value Statements#BUCKETS} buckets, by a hash. A relay leases
 * buckets; who holds a key's bucket holds the key.
 *
 * <ol>
 *   <li><b>append</b>: insert, in the caller's transaction. Nothing else is locked or written.
 *   <li><b>claim</b>: lease free buckets that have work, longest unserved first; then, so that it
 *       is seen what was committed before the lease, read the first due messages of each ({@link
 *       BatchReader}); move what cannot be sent now out of the way, in the transaction of the read;
 *       commit. Publishing comes after the commit and outside any transaction.
 *   <li><b>settle</b>, one transaction: lock the buckets that are still ours by owner and token;
 *       apply the decisions to their messages ({@link Settlement}); release; commit. For the other
 *       buckets nothing happens, and their sequences are returned as lost.
 *   <li><b>settle and claim</b>, one transaction: both, but buckets that have more are kept for a
 *       while instead of released and leased anew ({@link Claims}).
 * </ol>
 *
 * <p>Reading a bucket begins at its low-water mark ({@link Mark}), where the database has one.
 *
 * <p>A message that fails leaves PENDING and its key is recorded among the blocked keys. While that
 * record is there, a claim moves the key's messages to BLOCKED, so that they stand in nobody's way,
 * and takes them from there in order when the key's time has come. The head is always the lowest
 * BLOCKED sequence; nothing else says who is head. Only the holder of the bucket moves messages and
 * removes blocked keys.
 *
 * @param <T> the type of the transactions that messages are appended in
 * @param <H> through what the statements of the store's own transactions are run
 */
public abstract class BucketStore<T, H>
    implements OutboxStore<T>,
        SchemaStore,
        DeadLetterStore,
        StatisticsStore,
        LeaseStore,
        WarningStore,
        HousekeepingStore,
        PooledStore {

  /** How long a dedup key is remembered unless told otherwise. */
  public static final Duration DEFAULT_DEDUP_WINDOW = Duration.ofDays(7);

  /** How long the database waits for a client in a transaction that belongs to no lease. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** How long an idle store may miss buckets that somebody deleted. */
  private static final long RESTORE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final List<Integer> ALL_BUCKETS =
      IntStream.range(0, Statements.BUCKETS).boxed().toList();

  private final Statements<H> statements;
  private final Transactions<H> transactions;
  private final Duration dedupWindow;
  private final Claims<H> claims;
  private volatile boolean verified;
  private volatile Duration lease = PATIENCE;
  private volatile int housekept;
  private final LongSupplier clock;
  private volatile long restoredAt;

  /**
   * @throws IllegalArgumentException when the window is less than 1 ms
   */
  protected BucketStore(
      Statements<H> statements, Transactions<H> transactions, Duration dedupWindow) {
    this(statements, transactions, dedupWindow, System::nanoTime);
  }

  /** For tests: with a clock for what is not the database's to time. */
  BucketStore(
      Statements<H> statements,
      Transactions<H> transactions,
      Duration dedupWindow,
      LongSupplier clock) {
    if (dedupWindow.toMillis() < 1) {
      throw new IllegalArgumentException(
          "dedupWindow is " + dedupWindow + ", at least 1 ms is needed");
    }
    this.statements = statements;
    this.transactions = transactions;
    this.dedupWindow = dedupWindow;
    this.clock = clock;
    restoredAt = clock.getAsLong() - RESTORE_NANOS;
    claims = new Claims<>(transactions, statements, clock);
  }

  /** How long a dedup key is remembered. */
  protected final Duration dedupWindow() {
    return dedupWindow;
  }

  /** Whether the schema was found right, since it was migrated last. */
  protected final boolean verified() {
    return verified;
  }

  /** The schema was found right. */
  protected final void setVerified() {
    verified = true;
  }

  /**
   * Refuses a schema that this library does not work with.
   *
   * @throws dev.outbox.SchemaException saying what is wrong with it
   */
  protected abstract void checkSchema();

  /** As {@link #migrate}. */
  protected abstract void migrateSchema();

  @Override
  public final void migrate() {
    migrateSchema();
    verified = false;
  }

  @Override
  public final void verify() {
    checkSchema();
    verified = true;
  }

  @Override
  public Claim claim(ClaimRequest request) {
    if (!verified) {
      verify();
    }
    lease = request.lease();
    BucketClaim<H> claim = claims.claim(request);
    return claim.messages().isEmpty() && restoredNowAndThen() ? claims.claim(request) : claim;
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
    return done instanceof BucketClaim<?> claim && claim.isOf(claims)
        ? claim.settleAndClaim(decisions, next)
        : OutboxStore.super.settleAndClaim(done, decisions, next);
  }

  /** Test cleaners empty everything; without its record a bucket would never be served again. */
  private boolean restoredNowAndThen() {
    if (clock.getAsLong() - restoredAt < RESTORE_NANOS) {
      return false;
    }
    restoredAt = clock.getAsLong();
    return run(this::restore);
  }

  /** Whoever emptied one table has emptied others. */
  private boolean restore(H handle) {
    boolean wrong = statements.restore(handle);
    if (wrong) {
      statements.restoreBlockedKeys(handle, ALL_BUCKETS);
    }
    return wrong;
  }

  @Override
  public List<DeadLetter> deadLetters(long afterSequence, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + ", at least 1 is needed");
    }
    return run(handle -> statements.deadLetters(handle, afterSequence, limit));
  }

  @Override
  public boolean requeue(long sequence) {
    return run(handle -> statements.requeue(handle, sequence));
  }

  @Override
  public boolean discard(long sequence) {
    return run(handle -> statements.discard(handle, sequence));
  }

  @Override
  public Statistics statistics() {
    return run(statements::statistics);
  }

  @Override
  public List<String> warnings() {
    return run(statements::warnings);
  }

  @Override
  public List<RelayLease> leases() {
    return run(statements::leases);
  }

  /** In small transactions: what holds a bucket's row for long keeps claims from it. */
  @Override
  public void housekeep() {
    // First: the rest may wait for what such a client holds.
    inTransaction(handle -> statements.endStalled(handle, lease.multipliedBy(2)));
    boolean first = housekept == 0;
    int bucket = Math.floorMod(housekept, Statements.BUCKETS);
    inTransaction(statements::freeHaltedByNothing);
    if (first) {
      inTransaction(statements::catchUpSequence);
    }
    inTransaction(handle -> statements.forgetMark(handle, bucket));
    // There may be many keys: all buckets at first, one at a time after that.
    for (int some : first ? ALL_BUCKETS : List.of(bucket)) {
      inTransaction(handle -> statements.restoreBlockedKeys(handle, List.of(some)));
    }
    boolean ignored = run(this::restore);
    housekept++;
    // In small transactions, so that nobody waits for long for a key that is being purged.
    while (run(handle -> statements.purgeDedup(handle, dedupWindow))) {}
  }

  private void inTransaction(Consumer<H> work) {
    boolean ignored =
        run(
            handle -> {
              work.accept(handle);
              return true;
            });
  }

  private <R> R run(Transactions.Work<H, R> work) {
    return transactions.run(PATIENCE, work);
  }
}
