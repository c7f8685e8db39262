package dev.outbox.store.postgres;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toSet;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.ServedLease;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlReads.Reader;
import dev.outbox.store.postgres.BatchStatements.Binder;
import dev.outbox.store.postgres.BatchStatements.Parameters;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.LowWaterMark.Ahead;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Who holds which buckets, and each bucket's {@link LowWaterMark}, which is a lease's state here.
 */
final class PostgresLeases implements Leases<Handle> {

  /** Leases what {@code picked} has, by the {@code now} of the same statement. */
  static final String TAKE =
      """
      update ${q}${p}bucket b set
        token = b.token + 1,
        claim_id = ?,
        worker = ?,
        leased_at = statement_timestamp(),
        lease_until = statement_timestamp() + ? * interval '1 millisecond',
        takeovers = case when b.claim_id is null then b.takeovers
          when b.takeovers >= 2 then 0 else b.takeovers + 1 end,
        singles = case when b.claim_id is not null and b.takeovers >= 2 then ? else b.singles end,
        low_water = case when b.claim_id is null and p.marked then b.low_water else 0 end,
        low_water_history = now.history,
        ahead_of = case when b.claim_id is null and p.marked then b.ahead_of end
      from picked p cross join now
      where b.ctid = p.place
      returning b.bucket, b.token, b.low_water, b.low_water_ahead, b.ahead_of, now.history, now.next,
        ${transaction} as txid, p.scheduled, p.blocked, p.served_at, b.singles
      """;

  /**
   * The buckets with work (OFFSET 0: each is asked once, and not again by the condition); of them
   * the free ones, longest unserved first, as many as are a fair share among the workers that hold
   * leases now. SKIP LOCKED and LIMIT apply to the rows that are locked, in the order they are
   * sorted, so two that lease at once both get some. What was served in the future was served
   * before the clock was put back, so long ago: else all would wait for the clock but those that
   * are served now (C6).
   */
  private static final String LEASE =
      """
      with now as materialized (
        ${history}
      ), seen as materialized (
        select b.ctid as place, b.bucket, b.worker, b.lease_until > statement_timestamp() as leased,
          ${free} as free, ${marked} as marked, ${start} as start
        from ${q}${p}bucket b cross join now where b.ctid >= '(0,0)'
      ), work as materialized (
        select * from (
          select f.place, f.marked,
            (select true from ${q}${p}message m
              where m.bucket = f.bucket and m.status = 'PENDING'
                and m.seq + 0 >= case when f.marked then f.start else 0 end
              order by m.seq + 0 limit 1) is not null as pending,
            ${due}
          from seen f
          where f.free
          offset 0
        ) w
        where w.pending or w.scheduled or w.blocked
      ), picked as materialized (
        select w.place, w.marked, w.scheduled, w.blocked,
          case when b.served_at > statement_timestamp() + interval '10 seconds'
            then timestamptz 'epoch' else b.served_at end as served_at
        from work w join ${q}${p}bucket b on b.ctid = w.place
        where ${free}
        order by served_at, b.bucket
        limit (
          select greatest(1, least(?, ceil(
            ((select count(*) from work) + count(*))::numeric
            / (1 + count(distinct b.worker) filter (where b.worker <> ?)))
            - count(*) filter (where b.worker = ?)))
          from seen b where b.leased)
        for no key update of b skip locked
      )
      """
              .replace("${due}", PostgresText.due("f.bucket"))
          + TAKE;

  private static final String LOCK =
      """
      select b.bucket
      from ${q}${p}bucket b join unnest(?::int[], ?::bigint[]) h (bucket, token)
        on h.bucket = b.bucket and h.token = b.token
      where b.claim_id = ?
      order by b.bucket
      for no key update of b
      """;

  /** By the number, and not by the place: a row that changed while this waited has another. */
  private static final String EXTEND =
      """
      update ${q}${p}bucket b set
        leased_at = statement_timestamp(),
        lease_until = statement_timestamp() + ? * interval '1 millisecond'${more}
      from (${held}) held
      where b.bucket = held.bucket
      returning b.bucket
      """
          .replace("${held}", LOCK);

  private static final String RENEW = EXTEND.replace("${more}", "");

  /** Of who is well (S6). */
  static final String HOLD = EXTEND.replace("${more}", ", takeovers = 0");

  private static final String LOCK_HELD =
      """
      with now as materialized (
        ${history}
      )
      select b.bucket,
        (extract(epoch from b.lease_until - clock_timestamp()) * 1000)::bigint as left_millis,
        now.history, now.next, ${transaction} as txid,
        ${due}
      from ${q}${p}bucket b
      cross join (select ?::int[] as buckets, ?::bigint[] as tokens) l
      cross join now
      where b.bucket = any(l.buckets) and b.claim_id = ?
        and b.token = l.tokens[array_position(l.buckets, b.bucket::int)]
      order by b.bucket
      for no key update of b
      """;

  private static final String LOCK_HELD_WITH_DUE =
      LOCK_HELD.replace("${due}", PostgresText.due("b.bucket"));

  /**
   * The messages are deleted as the statement's snapshot has them, which may be older than the
   * locks. Nobody else changes messages of buckets that are held.
   */
  private static final String DELETE_HELD =
      "delete from ${q}${p}message m where ${these} and (bucket in (select bucket from held)) is true";

  private static String lockHeldAnd(String deleted) {
    return "with held as materialized ("
        + LOCK_HELD.replace("${due}", "false as scheduled, false as blocked")
        + "), "
        + deleted
        + " select held.*, (select count(*) from deleted) as deleted from held";
  }

  /** What is sent along must not be so long that the server may wait for the rest of it. */
  private static final int MOST_DELETED_WITH_LOCK = 64;

  private static final String RELEASE =
      """
      update ${q}${p}bucket b set
        claim_id = null, leased_at = null, lease_until = null,
        served_at = case when l.keeps_turn then b.served_at else statement_timestamp() end,
        takeovers = case when l.settled then 0 else b.takeovers end,
        singles = greatest(0, b.singles - l.decided),
        low_water = l.low_water,
        low_water_ahead = l.ahead,
        ahead_of = nullif(?, '{}'::bigint[])
      from unnest(?::int[], ?::int[], ?::boolean[], ?::boolean[], ?::bigint[], ?::bigint[])
        l (bucket, decided, settled, keeps_turn, low_water, ahead)
      where b.bucket = l.bucket and b.claim_id = ?
      """;

  private final MessageRows rows;
  private final BatchStatements statements;
  private final CertifiedSequences certified;
  private final PostgresArchive archive;
  private final PostgresHolding holding;
  private final String lockHeldAndDelete;

  PostgresLeases(
      MessageRows rows,
      BatchStatements statements,
      Pooler pooler,
      CertifiedSequences certified,
      PostgresArchive archive) {
    this.archive = archive;
    holding = new PostgresHolding(this, statements, pooler);
    lockHeldAndDelete =
        lockHeldAnd(
            archive.keepsArchive()
                ? archive.moving(DELETE_HELD)
                : "deleted as (" + DELETE_HELD + " returning 1)");
    this.rows = rows;
    this.statements = statements;
    this.certified = certified;
  }

  @Override
  public List<Lease> lease(Handle handle, UUID claimId, Claim.Request request, int most) {
    return ServedLease.inTurn(
        take(
            handle,
            LEASE,
            parameters -> parameters.add(most).add(request.worker()).add(request.worker()),
            claimId,
            request));
  }

  /**
   * @param sql a statement that ends with {@link #TAKE}
   * @param picked binds what comes before that
   */
  List<ServedLease> take(
      Handle handle, String sql, Binder picked, UUID claimId, Claim.Request request) {
    return statements.query(
        handle,
        sql,
        parameters -> {
          picked.bind(parameters);
          parameters
              .add(claimId)
              .add(request.worker())
              .add(request.lease().toMillis())
              .add(request.maxMessages());
        },
        each((row, sample) -> rows.served(row, mark(row, sample), request)));
  }

  private static LowWaterMark mark(ResultSet row, Sample sample) throws SQLException {
    long low = row.getLong("low_water");
    Array open = row.getArray("ahead_of");
    return open == null
        ? LowWaterMark.stored(low, sample)
        : LowWaterMark.stored(
            low,
            new Ahead(row.getLong("low_water_ahead"), Set.of((Long[]) open.getArray())),
            sample);
  }

  /** A row of a statement that samples the sequence. */
  private interface Sampled<R> {
    R map(ResultSet row, Sample sample) throws SQLException;
  }

  /** The sample is the statement's: each row has the same. */
  private <R> Reader<List<R>> each(Sampled<R> mapper) {
    return rows -> {
      List<R> all = new ArrayList<>();
      Sample sample = null;
      while (rows.next()) {
        if (sample == null) {
          sample =
              certified.begin(
                  rows.getString("history"), rows.getLong("next"), rows.getLong("txid"));
        }
        all.add(mapper.map(rows, sample));
      }
      return all;
    };
  }

  @Override
  public List<Lease> lockHeld(Handle handle, UUID claimId, Collection<Lease> leases) {
    return statements.query(
        handle,
        LOCK_HELD_WITH_DUE,
        parameters -> bind(parameters, claimId, leases),
        each(goingOn(leases)));
  }

  private static Parameters bind(Parameters parameters, UUID claimId, Collection<Lease> leases)
      throws SQLException {
    return parameters.integers(leases, Lease::bucket).longs(leases, Lease::token).add(claimId);
  }

  private static Sampled<Lease> goingOn(Collection<Lease> leases) {
    Map<Integer, Lease> byBucket = new HashMap<>();
    leases.forEach(lease -> byBucket.put(lease.bucket(), lease));
    return (row, sample) -> {
      Lease lease = requireNonNull(byBucket.get(row.getInt("bucket")));
      return MessageRows.goesOn(row, lease, LowWaterMark.of(lease).in(sample));
    };
  }

  @Override
  public int mostDeletedWithLock() {
    return MOST_DELETED_WITH_LOCK;
  }

  @Override
  public List<Lease> lockHeldAndDelete(
      Handle handle, UUID claimId, Collection<Lease> leases, Collection<Claimable> delivered) {
    Sampled<Lease> goingOn = goingOn(leases);
    List<Cleared> cleared =
        statements.query(
            handle,
            lockHeldAndDelete,
            parameters -> {
              PostgresText.these(bind(parameters, claimId, leases), delivered);
              if (archive.keepsArchive()) {
                PostgresArchive.bind(parameters, delivered);
              }
            },
            each((row, sample) -> new Cleared(goingOn.map(row, sample), row.getLong("deleted"))));
    List<Lease> held = cleared.stream().map(Cleared::lease).toList();
    Set<Integer> buckets = held.stream().map(Lease::bucket).collect(toSet());
    long ours = delivered.stream().filter(row -> buckets.contains(row.bucket())).count();
    return cleared.stream().allMatch(each -> each.deleted() == ours)
        ? LowWaterMark.afterDelete(held, delivered)
        : held;
  }

  /**
   * @param deleted how many messages were deleted in all buckets
   */
  private record Cleared(Lease lease, long deleted) {}

  @Override
  public Set<Integer> renew(Handle handle, UUID claimId, Collection<Lease> leases, Duration lease) {
    return renew(handle, RENEW, claimId, leases, lease);
  }

  Set<Integer> renew(
      Handle handle, String sql, UUID claimId, Collection<Lease> leases, Duration lease) {
    return statements.query(
        handle,
        sql,
        parameters -> bind(parameters.add(lease.toMillis()), claimId, leases),
        PostgresLeases::buckets);
  }

  private static Set<Integer> buckets(ResultSet rows) throws SQLException {
    Set<Integer> buckets = new HashSet<>();
    while (rows.next()) {
      buckets.add(rows.getInt(1));
    }
    return buckets;
  }

  /** A row lock is in the log, and makes no version of the row that vacuum would have to remove. */
  @Override
  public boolean makeDurable(Handle handle, UUID claimId, Collection<Lease> read, Duration lease) {
    return statements
            .query(
                handle,
                LOCK,
                parameters -> bind(parameters, claimId, read),
                PostgresLeases::buckets)
            .size()
        == read.size();
  }

  @Override
  public PostgresHolding holding() {
    return holding;
  }

  @Override
  public void release(Handle handle, UUID claimId, List<Release> releases) {
    int ignored =
        statements.update(
            handle,
            RELEASE,
            parameters ->
                parameters
                    .longs(
                        Ahead.openOf(releases.stream().map(Release::lease).toList()),
                        Long::longValue)
                    .integers(releases, release -> release.lease().bucket())
                    .integers(releases, Release::decided)
                    .booleans(releases, Release::settled)
                    .booleans(releases, Release::keepsTurn)
                    .longs(releases, release -> LowWaterMark.of(release.lease()).low())
                    .longs(releases, release -> LowWaterMark.of(release.lease()).ahead().low())
                    .add(claimId));
  }
}
