package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StatisticsStore.Flow;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;

/** What people and housekeeping ask of PostgreSQL. */
final class PostgresAdministration extends SqlAdministration {
  private static final String FLOW =
      """
      select n_tup_ins as come, n_tup_del as gone
      from pg_catalog.pg_stat_all_tables where relid = '${q}${p}message'::regclass
      """;

  /** Also the one that a holder remembers and will store: without its history it does not count. */
  private static final String FORGET_MARK =
      "update ${q}${p}bucket set low_water = 0, low_water_history = '' where ctid >= '(0,0)'";

  /** Of a bucket that nobody holds; one that is held has its turn again an hour later. */
  private static final String FORGET_ONE_MARK =
      FORGET_MARK
          + " and bucket = (select bucket from ${q}${p}bucket where bucket = :bucket"
          + " for update skip locked)";

  /** Asked for each row by the index: EXISTS could be planned as one scan of all keys. */
  static final String HALTS_KEY =
      "(select true from ${q}${p}blocked_key k where k.halted_by = m.seq limit 1) is not null";

  private static final String SEQUENCE =
      "pg_get_serial_sequence('${q}${p}message', 'seq')::regclass";

  /** Not after one from the upper half: it would leave no room for others. */
  private static final String LAG =
      """
      from (select max(m.seq) as seq from ${q}${p}message m where m.seq < 4611686018427387904) m
      where m.seq > coalesce(pg_sequence_last_value(\
      """
          + SEQUENCE
          + "), 0)";

  private static final String SEQUENCE_LAGS = "select true " + LAG;

  /** One at a time, or a stale value could set the sequence back. */
  private static final String LOCK_SEQUENCE =
      "select pg_advisory_xact_lock(" + SEQUENCE + "::oid::bigint)";

  private static final String CATCH_UP_SEQUENCE = "select setval(" + SEQUENCE + ", m.seq) " + LAG;

  /** Of ours are those that have written the buckets' table. */
  private static final String END_STALLED =
      """
      select count(pg_terminate_backend(a.pid)) from pg_stat_activity a
      where a.usename = current_user and a.datname = current_database()
        and a.wait_event = 'ClientWrite'
        and a.state_change < clock_timestamp() - :millis * interval '1 millisecond'
        and exists (select * from pg_locks l where l.pid = a.pid and l.locktype = 'relation'
          and l.relation = to_regclass('${q}${p}bucket') and l.mode = 'RowExclusiveLock')
      """;

  private static final String PURGE_DEDUP =
      """
      delete from ${q}${p}dedup where dedup_key in (
        select dedup_key from ${q}${p}dedup
        where created_at < statement_timestamp() - :millis * interval '1 millisecond'
        order by created_at
        limit :most
        for update skip locked)
      """;

  private static final String DEAD_LETTERS =
      """
      select ${columns}, m.last_error, m.last_failed_at, (${haltsKey})::int as halts_key
      from ${q}${p}message m
      where m.status = 'DEAD' and m.seq + 0 > :after order by m.seq + 0 limit :limit
      """
          .replace("${haltsKey}", HALTS_KEY);

  private static final String THESE =
      """
    select m.bucket, ${messageKey} as key, m.seq from ${q}${p}message m
    where m.seq = any (array(
      select (r ->> 0)::bigint from json_array_elements(cast(:seqs as json)) r))
    """;

  private static final String LOCK_DEAD_LETTERS =
      THESE + " and m.status = 'DEAD' order by m.seq for update";

  private static final String NOT_DUE =
      " and status = 'SCHEDULED' and available_at > statement_timestamp()";

  private static final String UNDUE = THESE + NOT_DUE;

  private static final String LOCK_BUCKET =
      "update ${q}${p}bucket set token = token where bucket = :bucket";

  private static final String WITHDRAW =
      "update ${q}${p}message set status = 'DEAD' where bucket = :bucket and seq = :seq" + NOT_DUE;

  /** Only the holder of the bucket deletes rows here: an operator makes them due. */
  private static final String UNHALT =
      """
    update ${q}${p}blocked_key set
      halted_by = null, retry_at = statement_timestamp(), low_seq = least(low_seq, :lowSeq)
    where bucket = :bucket and key = :key and halted_by = :seq
    """;

  private static final String REQUEUE =
      """
    update ${q}${p}message set
      status = case when :unhalted then 'BLOCKED' else 'SCHEDULED' end,
      available_at = statement_timestamp(), attempts = 0, last_failed_at = null
    where bucket = :bucket and seq = :seq
    """;

  private static final String DISCARD =
      "delete from ${q}${p}message where bucket = :bucket and seq = :seq";

  private static final String EXPIRED =
      """
    select m.seq, (m.last_failed_at < statement_timestamp() - :millis * interval '1 millisecond'
      and not (${haltsKey}))::int as expired
    from ${q}${p}message m
    where m.status = 'DEAD' and m.seq + 0 > :after order by m.seq + 0 limit :limit
    """
          .replace("${haltsKey}", HALTS_KEY);

  private static final String LEASES =
      """
    select coalesce(b.worker, '') as worker, count(*) as buckets,
      min(b.leased_at) as leased_at, max(b.lease_until) as lease_until
    from ${q}${p}bucket b
    where b.ctid >= '(0,0)' and b.claim_id is not null and b.lease_until > statement_timestamp()
    group by coalesce(b.worker, '') order by 1
    """;

  private static final String HALTED_BY_NOTHING =
      """
    select k.bucket, k.key, k.halted_by from ${q}${p}blocked_key k
    where k.ctid >= '(0,0)' and k.halted_by is not null and not exists (
      select from ${q}${p}message m where m.status = 'DEAD' and m.seq = k.halted_by)
    """;

  /** On a row that is there the conflict would wait for whoever holds it. */
  private static final String RESTORE_BUCKETS =
      """
    insert into ${q}${p}bucket (bucket) select n from generate_series(0, 63) n
    where not exists (select * from ${q}${p}bucket b where b.bucket = n)
    on conflict (bucket) do nothing
    """;

  /** From key to key by the index: a key may have a million messages. */
  private static final String RESTORE_BLOCKED_KEYS =
      """
    with recursive first as (
      (select m.seq, ${messageKey} as key from ${q}${p}message m
        where m.bucket = :bucket and m.status = 'BLOCKED'
        order by ${messageKey}, m.seq + 0 limit 1)
      union all
      select n.* from first f cross join lateral (
        select m.seq, ${messageKey} from ${q}${p}message m
        where m.bucket = :bucket and m.status = 'BLOCKED'
          and ${messageKey} > f.key
        order by ${messageKey}, m.seq + 0 limit 1) n
    )
    insert into ${q}${p}blocked_key as k (bucket, key, retry_at, low_seq)
    select :bucket, f.key, statement_timestamp(), f.seq from first f
    where not exists (select from ${q}${p}blocked_key b
      where b.bucket = :bucket and b.key = f.key and b.low_seq <= f.seq)
    on conflict (bucket, key) do update set low_seq = least(k.low_seq, excluded.low_seq)
    """;

  private static final String BLOCKED_BUCKETS =
      """
        select n from generate_series(0, 63) n
        where (select true from ${q}${p}message m
          where m.bucket = n and m.status = 'BLOCKED'
          order by ${messageKey}, m.seq + 0 limit 1) is not null
        """;

  /** A hundred years, the most that the function takes. */
  private static final int MOST_DAYS = 36_500;

  PostgresAdministration(MessageRows rows, PostgresArchive archive) {
    super(
        new Texts(
            DEAD_LETTERS,
            LOCK_DEAD_LETTERS,
            UNDUE,
            LOCK_BUCKET,
            WITHDRAW,
            UNHALT,
            REQUEUE,
            DISCARD,
            EXPIRED,
            PostgresFigures.STATISTICS,
            LEASES,
            HALTED_BY_NOTHING,
            RESTORE_BUCKETS,
            RESTORE_BLOCKED_KEYS),
        rows,
        archive);
  }

  /** What the server counts for itself, of rows whoever changed them; every user may read it. */
  @Override
  public Optional<Flow> flow(Handle handle) {
    return handle
        .createQuery(FLOW)
        .map((row, context) -> new Flow(row.getLong("come"), row.getLong("gone")))
        .findOne();
  }

  @Override
  protected String pause() {
    return "insert into ${q}${p}pause (aggregate_type, who, reason) values (:type, :who, :reason)"
        + " on conflict do nothing";
  }

  @Override
  public List<Finding> findings(Handle handle) {
    List<Finding> findings = new ArrayList<>(Citus.findings(handle));
    findings.addAll(ServerSettings.CHECKS.findings(handle));
    findings.addAll(BucketTable.findings(handle));
    List<Finding> old = OldTransactions.findings(handle, OldTransactions.OLD);
    findings.addAll(Finding.orFine("open transactions", old));
    if (old.isEmpty()) { // or else all that was delivered since lies below the marks
      findings.addAll(PostgresFigures.findings(handle));
    }
    return findings;
  }

  /**
   * Ends clients that stopped in the middle of a transaction; at first sets the sequence right;
   * keeps the buckets' rows together; forgets one bucket's mark, so that an error of a mark would
   * be a delay and no loss.
   */
  @Override
  public List<Consumer<Handle>> ownSteps(int round, Duration lease) {
    List<Consumer<Handle>> steps = new ArrayList<>();
    steps.add(handle -> endStalledClients(handle, lease.multipliedBy(2)));
    if (round == 0) {
      steps.add(PostgresAdministration::catchUpSequence);
    }
    steps.add(BucketTable::moveForward);
    int bucket = Math.floorMod(round, Database.BUCKETS);
    steps.add(handle -> handle.createUpdate(FORGET_ONE_MARK).bind("bucket", bucket).execute());
    return steps;
  }

  /**
   * Ends the server processes of clients that stopped while a large result was on its way to them,
   * where {@code tcp_user_timeout} ({@link BatchStatements}) does not: behind a pooler that reaches
   * the server by a Unix socket, which knows no such limit. No limit of the server's own interrupts
   * a process that writes, {@code transaction_timeout} neither; only its end does, and a role may
   * end its own.
   *
   * @param longerThan that the process has been at its statement
   */
  private static void endStalledClients(Handle handle, Duration longerThan) {
    long ignored =
        handle
            .createQuery(END_STALLED)
            .bind("millis", longerThan.toMillis())
            .mapTo(Long.class)
            .one();
  }

  /**
   * Where the sequence lags behind the messages, as after a restore or at the end of a logical
   * replication, sets it and forgets all marks.
   */
  private static void catchUpSequence(Handle handle) {
    if (handle.createQuery(SEQUENCE_LAGS).mapTo(Boolean.class).findOne().isPresent()) {
      handle.execute(LOCK_SEQUENCE);
      handle.execute(CATCH_UP_SEQUENCE);
      handle.createUpdate(FORGET_MARK).execute();
    }
  }

  @Override
  public List<Integer> blockedBuckets(Handle handle) {
    return handle.createQuery(BLOCKED_BUCKETS).mapTo(Integer.class).list();
  }

  /** A day is dropped as a whole, so what is in it may be a day older than it has to be. */
  @Override
  public boolean keepArchive(Handle handle, Duration retention) {
    long days = retention.toDays() + (retention.minusDays(retention.toDays()).isZero() ? 0 : 1);
    return handle
        .createQuery("select ${q}${p}archive_keep(:days)")
        .bind("days", (int) Math.min(days, MOST_DAYS))
        .mapTo(Boolean.class)
        .one();
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    return deleteOld(handle, PURGE_DEDUP, window.toMillis(), PURGE);
  }
}
