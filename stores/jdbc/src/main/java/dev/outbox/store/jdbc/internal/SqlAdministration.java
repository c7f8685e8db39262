package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.core.internal.Administration.Expired;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Row.Claimable;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** What claims do not ask: dead letters, statistics, and what housekeeping puts right. */
public abstract class SqlAdministration extends SqlArchive {

  /** How many dedup keys are deleted at once. */
  public static final int PURGE = 10_000;

  /** How many keys are asked for their first message: those whose messages may be the oldest. */
  public static final int OLDEST_KEYS = 64;

  /** How many dead letters are looked at in one transaction. */
  private static final int SOME_DEAD = 1_000;

  /**
   * The texts of its statements.
   *
   * @param deadLetters {@code :after, :limit}; gives {@link MessageRows#COLUMNS}, last_error,
   *     last_failed_at and halts_key, 1 or 0
   * @param lockDeadLetters {@code :seqs}, as {@link JsonRows} of one column; locks these dead
   *     letters and gives bucket, key and seq of each that is there
   * @param undue {@code :seqs}, as of {@code lockDeadLetters}; gives the same of these messages
   *     that are SCHEDULED and not due; locks nothing
   * @param lockBucket {@code :bucket}; locks its row
   * @param withdraw {@code :bucket, :seq}; makes this message DEAD while it is SCHEDULED and not
   *     due
   * @param unhalt {@code :bucket, :key, :seq, :lowSeq}; changes the key's row if that dead letter
   *     halts it
   * @param requeue {@code :bucket, :seq, :unhalted}; BLOCKED if the key was unhalted, or else
   *     SCHEDULED
   * @param discard {@code :bucket, :seq}
   * @param expired {@code :after, :limit, :millis}; gives seq and expired of the next dead letters
   *     by sequence: 1 for one that died so long ago and halts no key, else 0
   * @param statistics {@code :cap}; gives pending, scheduled, blocked, dead, blocked_keys,
   *     halted_keys, each at most the cap, and free_millis and blocked_millis, null when there is
   *     none. By indexes, and no more entries of each than the cap (F1)
   * @param leases gives worker, buckets, leased_at, lease_until of the leases that last, by worker
   * @param haltedByNothing gives bucket, key and halted_by of the keys that are halted by what is
   *     no dead letter
   * @param restoreBuckets changes nothing where all rows are there
   * @param restoreBlockedKeys {@code :bucket}; a row for each key that has BLOCKED messages and
   *     none, and a lower low_seq where the row's is above them
   */
  public record Texts(
      String deadLetters,
      String lockDeadLetters,
      String undue,
      String lockBucket,
      String withdraw,
      String unhalt,
      String requeue,
      String discard,
      String expired,
      String statistics,
      String leases,
      String haltedByNothing,
      String restoreBuckets,
      String restoreBlockedKeys) {}

  private final Texts texts;

  protected SqlAdministration(Texts texts, MessageRows rows, ArchiveTexts archive) {
    super(archive, rows);
    this.texts = texts;
  }

  @Override
  public final List<DeadLetter> deadLetters(Handle handle, long afterSequence, int limit) {
    return handle
        .createQuery(texts.deadLetters())
        .bind("after", afterSequence)
        .bind("limit", limit)
        .map(
            (row, context) ->
                new DeadLetter(
                    rows.message(row),
                    row.getString("last_error"),
                    rows.instant(row, row.findColumn("last_failed_at")),
                    row.getInt("halts_key") == 1))
        .list();
  }

  /** In the order of their keys, in which whoever decides about several changes these too. */
  private static List<Key> find(Handle handle, String sql, Collection<Long> sequences) {
    if (sequences.isEmpty()) {
      return List.of();
    }
    return handle
        .createQuery(sql)
        .bind("seqs", JsonRows.of(sequences.stream().sorted().toList(), List::of))
        .map((row, context) -> key(row, "seq"))
        .stream()
        .sorted(Comparator.comparing(Key::bucket).thenComparing(Key::key))
        .toList();
  }

  private static Key key(ResultSet row, String sequence) throws SQLException {
    return new Key(row.getInt("bucket"), row.getString("key"), row.getLong(sequence));
  }

  private static Set<Long> sequences(List<Key> letters) {
    return letters.stream().map(Key::sequence).collect(Collectors.toSet());
  }

  /** Returns those whose keys were halted by them. */
  private List<Key> unhalt(Handle handle, List<Key> letters, ToLongFunction<Key> lowSeq) {
    return JdbcBatches.changed(
        handle,
        texts.unhalt(),
        letters,
        (batch, letter) ->
            batch
                .bind("bucket", letter.bucket())
                .bind("key", letter.key())
                .bind("seq", letter.sequence())
                .bind("lowSeq", lowSeq.applyAsLong(letter)));
  }

  @Override
  public final void freeHaltedByNothing(Handle handle) {
    List<Key> halted =
        handle
            .createQuery(texts.haltedByNothing())
            .map((row, context) -> key(row, "halted_by"))
            .list();
    List<Key> ignored = unhalt(handle, halted, key -> Long.MAX_VALUE);
  }

  @Override
  public final Set<Long> requeue(Handle handle, Set<Long> sequences, @Nullable Who by) {
    List<Key> dead = find(handle, texts.lockDeadLetters(), sequences);
    if (by != null) {
      note(handle, dead, Action.REQUEUED, by);
    }
    Set<Long> unhalted = sequences(unhalt(handle, dead, Key::sequence));
    int[] ignored =
        JdbcBatches.run(
            handle,
            texts.requeue(),
            dead,
            (batch, letter) ->
                batch
                    .bind("bucket", letter.bucket())
                    .bind("seq", letter.sequence())
                    .bind("unhalted", unhalted.contains(letter.sequence())));
    return sequences(dead);
  }

  @Override
  public final Set<Long> discard(Handle handle, Set<Long> sequences, @Nullable Who by) {
    return discard(handle, find(handle, texts.lockDeadLetters(), sequences), by);
  }

  private Set<Long> discard(Handle handle, List<Key> dead, @Nullable Who by) {
    if (by != null) {
      note(handle, dead, Action.DISCARDED, by);
    }
    remove(handle, dead, Outcome.DISCARDED);
    return sequences(dead);
  }

  /** As dead letters that are discarded at once. */
  @Override
  public final Set<Long> cancel(Handle handle, Set<Long> sequences, @Nullable Who by) {
    List<Key> undue = find(handle, texts.undue(), sequences);
    int[] ignored =
        JdbcBatches.run(
            handle,
            texts.lockBucket(),
            undue.stream().map(Key::bucket).distinct().toList(),
            (batch, bucket) -> batch.bind("bucket", bucket));
    List<Key> dead = JdbcBatches.changed(handle, texts.withdraw(), undue, SqlAdministration::bind);
    return discard(handle, dead, by);
  }

  private static void bind(PreparedBatch batch, Key message) {
    batch.bind("bucket", message.bucket()).bind("seq", message.sequence());
  }

  /**
   * @param dead are locked
   */
  private void remove(Handle handle, List<Key> dead, Outcome outcome) {
    archive(handle, dead, outcome);
    List<Key> ignored = unhalt(handle, dead, letter -> Long.MAX_VALUE);
    delete(handle, dead);
  }

  private void delete(Handle handle, List<Key> dead) {
    int[] ignored = JdbcBatches.run(handle, texts.discard(), dead, SqlAdministration::bind);
  }

  @Override
  public final void expire(Handle handle, Collection<Claimable> expired) {
    List<Key> dead =
        expired.stream().map(row -> new Key(row.bucket(), row.key(), row.sequence())).toList();
    archive(handle, dead, Outcome.EXPIRED);
    delete(handle, dead);
  }

  private record Looked(long sequence, boolean expired) {}

  private List<Looked> lookAtDead(Handle handle, long after, Duration retention) {
    return handle
        .createQuery(texts.expired())
        .bind("after", after)
        .bind("limit", SOME_DEAD)
        .bind("millis", retention.toMillis())
        .map((row, context) -> new Looked(row.getLong("seq"), row.getInt("expired") == 1))
        .list();
  }

  @Override
  public final Expired expireDeadLetters(Handle handle, long after, Duration retention) {
    List<Looked> looked = lookAtDead(handle, after, retention);
    List<Key> locked = find(handle, texts.lockDeadLetters(), expired(looked));
    // Under the locks: since the first look some may have been requeued, and died anew.
    Set<Long> still = expired(lookAtDead(handle, after, retention));
    List<Key> expired = locked.stream().filter(dead -> still.contains(dead.sequence())).toList();
    remove(handle, expired, Outcome.EXPIRED);
    boolean isEnd = looked.size() < SOME_DEAD;
    return new Expired(isEnd ? 0 : looked.get(looked.size() - 1).sequence(), expired.size());
  }

  private static Set<Long> expired(List<Looked> looked) {
    return looked.stream()
        .filter(Looked::expired)
        .map(Looked::sequence)
        .collect(Collectors.toSet());
  }

  @Override
  public final void pause(Handle handle, String name, Who by) {
    boolean ignored = resume(handle, name);
    handle
        .createUpdate(pause())
        .bind("type", name)
        .bind("who", by.name())
        .bind("reason", by.reason())
        .execute();
  }

  /** {@code :type, :who, :reason}; a row, or none where another transaction has just made it. */
  protected abstract String pause();

  /** Gives aggregate_type, paused_at, who, reason of what is paused. */
  protected Query askForPauses(Handle handle) {
    return handle.createQuery("select aggregate_type, paused_at, who, reason from ${q}${p}pause");
  }

  /** {@code :type}; deletes its row, if there is one. */
  protected String resume() {
    return "delete from ${q}${p}pause where aggregate_type = :type";
  }

  @Override
  public final boolean resume(Handle handle, String name) {
    return handle.createUpdate(resume()).bind("type", name).execute() > 0;
  }

  @Override
  public final List<Pause> pauses(Handle handle) {
    return askForPauses(handle)
        .map(
            (row, context) ->
                new Pause(
                    PauseStore.typeOf(row.getString("aggregate_type")),
                    requireNonNull(rows.instant(row, row.findColumn("paused_at"))),
                    row.getString("who"),
                    row.getString("reason")))
        .list();
  }

  @Override
  public final Statistics statistics(Handle handle, int cap, @Nullable Integer relays) {
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
                    millis(row, "blocked_millis"),
                    relays))
        .one();
  }

  private static @Nullable Duration millis(ResultSet row, String column) throws SQLException {
    long millis = row.getLong(column);
    return row.wasNull() ? null : Duration.ofMillis(millis);
  }

  @Override
  public final List<WorkerLease> leases(Handle handle) {
    return handle
        .createQuery(texts.leases())
        .map(
            (row, context) ->
                new WorkerLease(
                    row.getString("worker"),
                    row.getInt("buckets"),
                    rows.instant(row, "leased_at"),
                    rows.instant(row, "lease_until")))
        .list();
  }

  /**
   * Deletes what is old.
   *
   * @param sql with {@code :millis, :most}
   * @return whether it deleted the most, so that there may be more
   */
  protected static boolean deleteOld(Handle handle, String sql, long millis, int most) {
    return handle.createUpdate(sql).bind("millis", millis).bind("most", most).execute() == most;
  }

  @Override
  public final boolean restore(Handle handle) {
    return handle.createUpdate(texts.restoreBuckets()).execute() > 0;
  }

  @Override
  public final void restoreBlockedKeys(Handle handle, List<Integer> buckets) {
    for (int bucket : buckets) {
      handle.createUpdate(texts.restoreBlockedKeys()).bind("bucket", bucket).execute();
    }
  }
}
