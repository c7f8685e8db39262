package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.ArchiveStore.Archived;
import dev.outbox.spi.ArchiveStore.Outcome;
import dev.outbox.spi.ArchiveStore.Search;
import dev.outbox.spi.AuditStore.Action;
import dev.outbox.spi.AuditStore.Entry;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.LeaseStore.WorkerLease;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.spi.Who;
import dev.outbox.store.core.internal.Database.Administration;
import dev.outbox.store.core.internal.Database.Expired;
import dev.outbox.store.core.internal.Database.Key;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** What claims do not ask: dead letters, statistics, and what housekeeping puts right. */
public final class SqlAdministration implements Administration<Handle> {

  /** How many dedup keys are deleted at once. */
  public static final int PURGE = 10_000;

  /** The texts of its statements, and what a database does in a way of its own. */
  public interface Texts {

    /** {@code :after, :limit}; gives {@link Rows#COLUMNS}, last_error, last_failed_at. */
    String deadLetters();

    /** {@code :seq}; locks the dead letter and gives bucket and key, or no row. */
    String lockDeadLetter();

    /** {@code :bucket, :key, :seq, :lowSeq}; changes the key's row if that dead letter halts it. */
    String unhalt();

    /** {@code :bucket, :seq, :unhalted}; BLOCKED if the key was unhalted, or else SCHEDULED. */
    String requeue();

    /** {@code :bucket, :seq}. */
    String discard();

    /** How many dead letters are looked at in one transaction. */
    int SOME_DEAD = 1_000;

    /**
     * {@code :after, :limit, :millis}; gives seq and expired of the next dead letters by sequence:
     * 1 for one that died so long ago and halts no key, else 0.
     */
    String expired();

    /** How many keys are asked for their first message: those whose messages may be the oldest. */
    int OLDEST_KEYS = 64;

    /**
     * {@code :cap}; gives pending, scheduled, blocked, dead, blocked_keys, halted_keys, each at
     * most the cap, and free_millis and blocked_millis, null when there is none. By indexes, and no
     * more entries of each than the cap (F1).
     */
    String statistics();

    /** As {@link Administration#warnings}. */
    default List<String> warnings(Handle handle) {
      return List.of();
    }

    /** Gives worker, buckets, leased_at, lease_until of the leases that last, by worker. */
    String leases();

    /** As {@link Administration#ownSteps}. */
    default List<Consumer<Handle>> ownSteps(int round, Duration lease) {
      return List.of();
    }

    /** Gives bucket, key and halted_by of the keys that are halted by what is no dead letter. */
    String haltedByNothing();

    /** Changes nothing where all rows are there. */
    String restoreBuckets();

    /** The buckets that have BLOCKED messages; empty where that costs more than it saves. */
    default Optional<String> blockedBuckets() {
      return Optional.empty();
    }

    /**
     * {@code :bucket}; a row for each key that has BLOCKED messages and none, and a lower low_seq
     * where the row's is above them.
     */
    String restoreBlockedKeys();

    /** As {@link Administration#purgeDedup}, of {@link #PURGE} keys. */
    boolean purgeDedup(Handle handle, Duration window);
  }

  private final Texts texts;
  private final SqlDialect types;
  private final Rows rows;
  private final SqlArchive archive;

  SqlAdministration(SqlDialect dialect) {
    texts = dialect.administration();
    types = dialect;
    rows = new Rows(dialect);
    archive = new SqlArchive(dialect);
  }

  @Override
  public List<DeadLetter> deadLetters(Handle handle, long afterSequence, int limit) {
    return handle
        .createQuery(texts.deadLetters())
        .bind("after", afterSequence)
        .bind("limit", limit)
        .map(
            (row, context) ->
                new DeadLetter(
                    rows.message(row),
                    row.getString("last_error"),
                    types.instant(row, row.findColumn("last_failed_at"))))
        .list();
  }

  private @Nullable Key lockDeadLetter(Handle handle, long sequence) {
    return handle
        .createQuery(texts.lockDeadLetter())
        .bind("seq", sequence)
        .map((row, context) -> new Key(row.getInt("bucket"), row.getString("key"), sequence))
        .findOne()
        .orElse(null);
  }

  private boolean unhalt(Handle handle, Key key, long lowSeq) {
    return handle
            .createUpdate(texts.unhalt())
            .bind("bucket", key.bucket())
            .bind("key", key.key())
            .bind("seq", key.sequence())
            .bind("lowSeq", lowSeq)
            .execute()
        > 0;
  }

  @Override
  public void freeHaltedByNothing(Handle handle) {
    handle
        .createQuery(texts.haltedByNothing())
        .map(
            (row, context) ->
                new Key(row.getInt("bucket"), row.getString("key"), row.getLong("halted_by")))
        .list()
        .forEach(key -> unhalt(handle, key, Long.MAX_VALUE));
  }

  @Override
  public boolean requeue(Handle handle, long sequence) {
    return requeueNoting(handle, sequence, null);
  }

  @Override
  public boolean requeue(Handle handle, long sequence, Who by) {
    return requeueNoting(handle, sequence, by);
  }

  /**
   * @param by null: no entry is written
   */
  private boolean requeueNoting(Handle handle, long sequence, @Nullable Who by) {
    Key dead = lockDeadLetter(handle, sequence);
    if (dead == null) {
      return false;
    }
    if (by != null) {
      archive.note(handle, dead, Action.REQUEUED, by);
    }
    boolean unhalted = unhalt(handle, dead, sequence);
    handle
        .createUpdate(texts.requeue())
        .bind("bucket", dead.bucket())
        .bind("seq", sequence)
        .bind("unhalted", unhalted)
        .execute();
    return true;
  }

  @Override
  public boolean discard(Handle handle, long sequence) {
    return remove(handle, sequence, Outcome.DISCARDED, null);
  }

  @Override
  public boolean discard(Handle handle, long sequence, Who by) {
    return remove(handle, sequence, Outcome.DISCARDED, by);
  }

  /**
   * @param by null: no entry is written
   */
  private boolean remove(Handle handle, long sequence, Outcome outcome, @Nullable Who by) {
    return remove(handle, lockDeadLetter(handle, sequence), outcome, by);
  }

  /**
   * @param dead is locked; null: there is none
   * @param by null: no entry is written
   */
  private boolean remove(Handle handle, @Nullable Key dead, Outcome outcome, @Nullable Who by) {
    if (dead == null) {
      return false;
    }
    if (by != null) {
      archive.note(handle, dead, Action.DISCARDED, by);
    }
    archive.archive(handle, dead, outcome);
    unhalt(handle, dead, Long.MAX_VALUE);
    handle
        .createUpdate(texts.discard())
        .bind("bucket", dead.bucket())
        .bind("seq", dead.sequence())
        .execute();
    return true;
  }

  private record Looked(long sequence, boolean expired) {}

  private List<Looked> lookAtDead(Handle handle, long after, int limit, Duration retention) {
    return handle
        .createQuery(texts.expired())
        .bind("after", after)
        .bind("limit", limit)
        .bind("millis", retention.toMillis())
        .map((row, context) -> new Looked(row.getLong("seq"), row.getInt("expired") == 1))
        .list();
  }

  @Override
  public Expired expireDeadLetters(Handle handle, long after, Duration retention) {
    List<Looked> looked = lookAtDead(handle, after, Texts.SOME_DEAD, retention);
    int removed = 0;
    for (Looked one : looked) {
      if (one.expired() && expire(handle, one.sequence(), retention)) {
        removed++;
      }
    }
    boolean isEnd = looked.size() < Texts.SOME_DEAD;
    return new Expired(isEnd ? 0 : looked.get(looked.size() - 1).sequence(), removed);
  }

  /** Looks again under the lock: since the first look it may have been requeued, and died anew. */
  private boolean expire(Handle handle, long sequence, Duration retention) {
    Key dead = lockDeadLetter(handle, sequence);
    return dead != null
        && lookAtDead(handle, sequence - 1, 1, retention).contains(new Looked(sequence, true))
        && remove(handle, dead, Outcome.EXPIRED, null);
  }

  @Override
  public void noteReplay(Handle handle, List<Archived> messages, Who by) {
    archive.noteReplay(handle, messages, by);
  }

  @Override
  public List<Entry> audit(Handle handle, Instant from, int limit) {
    return archive.audit(handle, from, limit);
  }

  @Override
  public List<Archived> archived(Handle handle, Search search, int limit) {
    return archive.archived(handle, search, limit);
  }

  @Override
  public boolean keepArchive(Handle handle, Duration retention) {
    return types.archiveTexts().keep(handle, retention);
  }

  @Override
  public Statistics statistics(Handle handle, int cap) {
    return handle
        .createQuery(texts.statistics())
        .bind("cap", cap)
        .map(
            (row, context) ->
                new Statistics(
                    cap,
                    row.getLong("pending"),
                    row.getLong("scheduled"),
                    row.getLong("blocked"),
                    row.getLong("dead"),
                    row.getLong("blocked_keys"),
                    row.getLong("halted_keys"),
                    millis(row, "free_millis"),
                    millis(row, "blocked_millis")))
        .one();
  }

  private static @Nullable Duration millis(ResultSet row, String column) throws SQLException {
    long millis = row.getLong(column);
    return row.wasNull() ? null : Duration.ofMillis(millis);
  }

  @Override
  public List<WorkerLease> leases(Handle handle) {
    return handle
        .createQuery(texts.leases())
        .map(
            (row, context) ->
                new WorkerLease(
                    row.getString("worker"),
                    row.getInt("buckets"),
                    requireNonNull(types.instant(row, row.findColumn("leased_at"))),
                    requireNonNull(types.instant(row, row.findColumn("lease_until")))))
        .list();
  }

  @Override
  public boolean restore(Handle handle) {
    return handle.createUpdate(texts.restoreBuckets()).execute() > 0;
  }

  @Override
  public void restoreBlockedKeys(Handle handle, List<Integer> buckets) {
    for (int bucket : buckets) {
      handle.createUpdate(texts.restoreBlockedKeys()).bind("bucket", bucket).execute();
    }
  }

  @Override
  public List<Integer> blockedBuckets(Handle handle) {
    return texts
        .blockedBuckets()
        .map(sql -> handle.createQuery(sql).mapTo(Integer.class).list())
        .orElseGet(() -> Administration.super.blockedBuckets(handle));
  }

  @Override
  public List<String> warnings(Handle handle) {
    return texts.warnings(handle);
  }

  @Override
  public List<Consumer<Handle>> ownSteps(int round, Duration lease) {
    return texts.ownSteps(round, lease);
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    return texts.purgeDedup(handle, window);
  }
}
