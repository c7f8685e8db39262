package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.internal.Administration.Expired;
import dev.outbox.store.core.internal.Administration.Noted;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All that a store does in transactions of its own: claims ({@link Claims}), what people ask, and
 * housekeeping.
 *
 * @param <H> what the statements of a transaction are run through, as a connection
 */
public final class StoreOperations<H> {

  /** How long the database waits for a client in a transaction that belongs to no lease. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** How long an idle store may miss buckets that somebody deleted. */
  private static final long RESTORE_NANOS = Duration.ofSeconds(3).toNanos();

  /** Longer is the same: no store is older. SQL Server has room for 68 years of seconds. */
  private static final Duration LONGEST = Duration.ofDays(60 * 365);

  /** How much of the archive is removed in one round; the next one goes on. */
  static final int ARCHIVE_STEPS = 1_000;

  private final Claims<H> claims;
  private final Database<H> database;
  private final Administration<H> administration;
  private final Transactions<H> transactions;
  private final Duration dedupWindow;
  private final Archive archive;
  private final Duration archiveRetention;
  private final @Nullable Duration deadLetterRetention;
  private final LongSupplier clock;
  private volatile Duration lease = PATIENCE;
  private volatile int housekept;

  /** The last dead letter whose age was looked at. */
  private volatile long lookedAt;

  private volatile long restoredAt;

  /**
   * @param dedupWindow how long a dedup key is remembered
   * @throws IllegalArgumentException when a time is less than 1 ms, naming it
   */
  public StoreOperations(
      Database<H> database, Transactions<H> transactions, Duration dedupWindow, History history) {
    this(database, transactions, dedupWindow, history, System::nanoTime);
  }

  /**
   * @param clock for what is not the database's to time
   */
  StoreOperations(
      Database<H> database,
      Transactions<H> transactions,
      Duration dedupWindow,
      History history,
      LongSupplier clock) {
    this.database = database;
    this.administration = database.administration();
    this.transactions = transactions;
    this.dedupWindow = checked("dedupWindow", dedupWindow);
    archive = history.archive();
    archiveRetention = checked("archiveRetention", history.retentionOrDefault());
    Duration deadLetters = history.deadLetters();
    deadLetterRetention = deadLetters == null ? null : checked("deadLetterRetention", deadLetters);
    this.clock = clock;
    restoredAt = clock.getAsLong() - RESTORE_NANOS;
    claims = new Claims<>(database, transactions, clock);
  }

  private static Duration checked(String name, Duration value) {
    if (value.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(
          name + " is " + Texts.time(value) + ", at least 1 ms is needed");
    }
    return value.compareTo(LONGEST) > 0 ? LONGEST : value;
  }

  public Duration dedupWindow() {
    return dedupWindow;
  }

  public Archive archive() {
    return archive;
  }

  // ---- claims

  public Claim claim(Claim.Request request) {
    noteLease(request);
    Claim claim = claims.claim(request);
    return claim.messages().isEmpty() && restoredNowAndThen() ? claims.claim(request) : claim;
  }

  /** How long a stalled client may keep what housekeeping frees. */
  void noteLease(Claim.Request request) {
    lease = request.lease();
  }

  /** Empty where the claim is not one of this store's, or is over. */
  public Optional<Settled> settleAndClaim(
      Claim done, Map<Long, Decision> decisions, Claim.Request next) {
    return claims.settleAndClaim(done, decisions, next);
  }

  /**
   * For the workers of a relay.
   *
   * @param unclaimed when none of them claims for so long, nothing is held for them
   * @param verify looks at the schema, before each claim
   */
  public RelayClaims<H> forRelay(Duration unclaimed, Runnable verify) {
    return new RelayClaims<>(this, database, transactions, unclaimed, verify, clock);
  }

  /** Test cleaners empty everything; without its record a bucket would never be served again. */
  boolean restoredNowAndThen() {
    if (clock.getAsLong() - restoredAt < RESTORE_NANOS) {
      return false;
    }
    restoredAt = clock.getAsLong();
    return run(this::restore);
  }

  /** Where rows of one table are missing, those of another may be missing too. */
  private boolean restore(H handle) {
    boolean wrong = administration.restore(handle);
    if (wrong) {
      administration.restoreBlockedKeys(handle, Database.ALL_BUCKETS);
    }
    return wrong;
  }

  // ---- what people ask

  /** Asks the database one thing, in a transaction. */
  public <R> R ask(BiFunction<Administration<H>, H, R> question) {
    return run(handle -> question.apply(administration, handle));
  }

  /** Asks the database for what is only looked at, in a transaction. */
  public <R> R look(BiFunction<Inspection<H>, H, R> question) {
    return run(handle -> question.apply(database.inspection(), handle));
  }

  /**
   * As {@link PauseStore#pause}.
   *
   * @param noted whether there is an audit for it
   */
  public void pause(@Nullable String aggregateType, Who by, boolean noted) {
    String name = PauseStore.name(aggregateType);
    inTransaction(
        handle -> {
          administration.pause(handle, name, by);
          note(handle, noted, Action.PAUSED, by, name);
        });
  }

  public boolean resume(@Nullable String aggregateType, Who by, boolean noted) {
    String name = PauseStore.name(aggregateType);
    return run(
        handle -> {
          boolean was = administration.resume(handle, name);
          note(handle, was && noted, Action.RESUMED, by, name);
          return was;
        });
  }

  private void note(H handle, boolean noted, Action action, Who by, String name) {
    if (noted) {
      administration.note(handle, action, by, List.of(new Noted(0, name)));
    }
  }

  /**
   * As {@link ArchiveStore#replay}.
   *
   * @param append into the transaction of the handle
   */
  public Appended replay(
      List<Archived> messages, Who by, BiFunction<H, List<OutboxMessage>, Appended> append) {
    ArchiveStore.requireAudit(requireNonNull(by, "by"), archive);
    List<OutboxMessage> again = messages.stream().map(Archived::again).toList();
    List<Noted> noted =
        messages.stream()
            .map(Archived::message)
            .map(one -> new Noted(one.sequence(), one.message().id().toString()))
            .toList();
    return run(
        handle -> {
          Appended appended = append.apply(handle, again);
          administration.note(handle, Action.REPLAYED, by, noted);
          return appended;
        });
  }

  public Statistics statistics(int cap) {
    int checked = StatisticsStore.checked(cap);
    return run(handle -> administration.statistics(handle, checked, relays(handle)));
  }

  /** Where none is seen, relays may live all the same if they cannot be. */
  private @Nullable Integer relays(H handle) {
    Holding<H> holding = database.leases().holding();
    int seen = holding == null ? 0 : holding.look(handle).codes().size();
    return holding != null && (seen > 0 || holding.isSeen(handle)) ? (Integer) seen : null;
  }

  // ---- housekeeping

  /**
   * In small transactions: a transaction that holds a bucket's row for long keeps claims from it.
   */
  public void housekeep() {
    int round = housekept;
    for (Consumer<H> step : administration.ownSteps(round, lease)) {
      inTransaction(step);
    }
    inTransaction(administration::freeHaltedByNothing);
    // There may be many keys: at first all buckets that have any, one bucket at a time after that.
    List<Integer> buckets =
        round == 0
            ? run(administration::blockedBuckets)
            : List.of(Math.floorMod(round, Database.BUCKETS));
    for (int bucket : buckets) {
      if (isStopping()) {
        return;
      }
      inTransaction(handle -> administration.restoreBlockedKeys(handle, List.of(bucket)));
    }
    boolean ignored = run(this::restore);
    housekept = round + 1;
    // In small transactions, so that nobody waits for long for a key that is being purged.
    while (!isStopping() && run(handle -> administration.purgeDedup(handle, dedupWindow))) {}
    // What may fail because of the archive comes last, and the archive is seen to all the same: it
    // may be its missing day that dead letters cannot expire into.
    Duration age = deadLetterRetention;
    try {
      if (age != null) {
        expireDeadLetters(age);
      }
    } finally {
      keepArchive();
    }
  }

  private void keepArchive() {
    boolean more = archive != Archive.NONE;
    for (int steps = 0; more && steps < ARCHIVE_STEPS && !isStopping(); steps++) {
      more = run(handle -> administration.keepArchive(handle, archiveRetention));
    }
  }

  /** Some of them each time, and the next at once where some were removed. */
  private void expireDeadLetters(Duration age) {
    boolean removed = true;
    while (removed && !isStopping()) {
      Expired expired = run(handle -> administration.expireDeadLetters(handle, lookedAt, age));
      lookedAt = expired.last();
      removed = expired.removed() > 0;
    }
  }

  private static boolean isStopping() {
    return Thread.currentThread().isInterrupted();
  }

  private void inTransaction(Consumer<H> work) {
    transactions.execute(PATIENCE, work);
  }

  private <R> R run(Transactions.Work<H, R> work) {
    return transactions.run(PATIENCE, work);
  }
}
