package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.Decision;
import dev.outbox.spi.HousekeepingStore;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.PooledStore;
import dev.outbox.spi.SchemaStore;
import dev.outbox.spi.StatisticsStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The store on a relational database.
 *
 * <p>A key belongs to one of {@value Dialect#BUCKETS} buckets, a hash that the database computes. A
 * relay leases buckets; who holds a key's bucket holds the key.
 *
 * <ol>
 *   <li><b>append</b>: insert, in the caller's transaction. Nothing else is locked or written.
 *   <li><b>claim</b>, one transaction: lease free buckets that have work, longest unserved first;
 *       in statements of their own, so that they see what was committed before the lease, read the
 *       first due messages of each ({@link BatchReader}); move what cannot be sent now out of the
 *       way; commit. Publishing comes after the commit and outside any transaction.
 *   <li><b>settle</b>, one transaction: lock the bucket rows that are still ours by owner and
 *       token; apply the decisions to their messages ({@link Settlement}); release; commit. For the
 *       other buckets nothing happens, and their sequences are returned as lost.
 *   <li><b>settle and claim</b>, one transaction: both, but buckets that have more are kept for a
 *       while instead of released and leased anew ({@link Claims}).
 * </ol>
 *
 * <p>Reading a bucket begins at its low-water mark ({@link Mark}).
 *
 * <p>A message that fails leaves PENDING and its key gets a row among the blocked keys. While that
 * row is there, a claim moves the key's messages to BLOCKED, so that they stand in nobody's way,
 * and takes them from there in order when the key's time has come. The head is always the lowest
 * BLOCKED sequence; nothing else says who is head. Only the holder of the bucket moves messages and
 * removes blocked keys.
 */
public abstract class JdbcOutboxStore
    implements OutboxStore<Connection>,
        SchemaStore,
        DeadLetterStore,
        StatisticsStore,
        HousekeepingStore,
        PooledStore {

  /** How long a dedup key is remembered unless told otherwise. */
  public static final Duration DEFAULT_DEDUP_WINDOW = Duration.ofDays(7);

  /** How long the database waits for a client in a transaction that belongs to no lease. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** How long an idle store may miss bucket rows that somebody deleted. */
  private static final long RESTORE_NANOS = Duration.ofSeconds(1).toNanos();

  private final DataSource dataSource;
  private final Dialect dialect;
  private final Names names;
  private final Duration dedupWindow;
  private final Transactions transactions;
  private final Schema schema;
  private final Claims claims;
  private volatile boolean verified;
  private volatile int housekept;
  private volatile long restoredAt = System.nanoTime() - RESTORE_NANOS;

  protected JdbcOutboxStore(Builder<?, ?> b, Function<Names, Dialect> dialect) {
    this(b.dataSource, new Names(b.schema, b.prefix), b.dedupWindow, dialect);
  }

  protected JdbcOutboxStore(
      DataSource dataSource, Names names, Duration dedupWindow, Function<Names, Dialect> dialect) {
    if (dedupWindow.toMillis() < 1) {
      throw new IllegalArgumentException(
          "dedupWindow is " + dedupWindow + ", at least 1 ms is needed");
    }
    this.dataSource = dataSource;
    this.names = names;
    this.dedupWindow = dedupWindow;
    this.dialect = dialect.apply(names);
    transactions = new Transactions(dataSource, this.dialect, names);
    schema = new Schema(dataSource, this.dialect, names);
    claims = new Claims(transactions, this.dialect);
  }

  @Override
  public Set<UUID> append(Connection transaction, List<OutboxMessage> messages) {
    try {
      if (transaction.getAutoCommit()) {
        throw new NoTransactionException(
            "the connection is in auto-commit mode, so there is no transaction to join: call setAutoCommit(false) or use your framework's transaction");
      }
      if (messages.isEmpty()) {
        return Set.of();
      }
      if (!verified) {
        schema.check(dialect.schemaVersion(transaction));
        verified = true;
      }
      return dialect.append(transaction, messages, dedupWindow);
    } catch (SQLException e) {
      throw transactions.translate(e);
    }
  }

  @Override
  public Claim claim(ClaimRequest request) {
    if (!verified) {
      verify();
    }
    JdbcClaim claim = claims.claim(request);
    return claim.messages().isEmpty() && restoredNowAndThen() ? claims.claim(request) : claim;
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
    if (!(done instanceof JdbcClaim claim) || !claim.isOf(claims)) {
      return OutboxStore.super.settleAndClaim(done, decisions, next);
    }
    claim.check(decisions);
    return claims.settleAndClaim(claim, decisions, next);
  }

  /** Test cleaners empty all tables; without its row a bucket would never be served again. */
  private boolean restoredNowAndThen() {
    if (System.nanoTime() - restoredAt < RESTORE_NANOS) {
      return false;
    }
    restoredAt = System.nanoTime();
    return run(dialect::restore);
  }

  @Override
  public void migrate() {
    schema.migrate(transactions);
    verified = false;
  }

  @Override
  public String ddl() {
    return schema.ddl();
  }

  @Override
  public void verify() {
    schema.verify(transactions);
    verified = true;
  }

  @Override
  public List<DeadLetter> deadLetters(long afterSequence, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is " + limit + ", at least 1 is needed");
    }
    return run(handle -> dialect.deadLetters(handle, afterSequence, limit));
  }

  @Override
  public boolean requeue(long sequence) {
    return run(handle -> dialect.requeue(handle, sequence));
  }

  @Override
  public boolean discard(long sequence) {
    return run(handle -> dialect.discard(handle, sequence));
  }

  @Override
  public Statistics statistics() {
    return run(dialect::statistics);
  }

  @Override
  public void housekeep() {
    run(
        handle -> {
          dialect.freeHaltedByNothing(handle);
          if (housekept == 0) {
            dialect.catchUpSequence(handle);
          }
          dialect.forgetMark(handle, Math.floorMod(housekept, Dialect.BUCKETS));
          return dialect.restore(handle);
        });
    housekept++;
    // In small transactions, so that nobody waits for long for a key that is being purged.
    while (run(handle -> dialect.purgeDedup(handle, dedupWindow)) == Dialect.PURGE) {}
  }

  @Override
  public OptionalInt maxConnections() {
    return PoolSize.of(dataSource);
  }

  private <R> R run(Transactions.Work<R> work) {
    return transactions.run(PATIENCE, work);
  }

  /**
   * The statements that let one role append and nothing else, and another be a relay.
   *
   * @param producer a plain name
   * @param relay a plain name
   */
  public final String grants(String producer, String relay) {
    return names
        .fill(Names.resource(dialect.getClass(), "grants.sql"))
        .replace("${producer}", Names.plain("producer", producer))
        .replace("${relay}", Names.plain("relay", relay));
  }

  /**
   * The settings that all relational stores have. Not safe for use by many threads.
   *
   * @param <S> what it builds
   * @param <B> itself
   */
  public abstract static class Builder<S extends JdbcOutboxStore, B extends Builder<S, B>> {
    private final DataSource dataSource;
    private @Nullable String schema;
    private String prefix = Names.DEFAULT_PREFIX;
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;

    protected Builder(DataSource dataSource) {
      this.dataSource = requireNonNull(dataSource, "dataSource");
    }

    /** Default: null, the connection's current schema. */
    public B schema(@Nullable String schema) {
      this.schema = schema;
      return self();
    }

    /** Before each table's name. Default: {@value Names#DEFAULT_PREFIX}. */
    public B prefix(String prefix) {
      this.prefix = prefix;
      return self();
    }

    /** How long a dedup key is remembered, at least 1 ms. Default: 7 days. */
    public B dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return self();
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public abstract S build();

    protected abstract B self();
  }
}
