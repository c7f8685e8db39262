package dev.outbox.store.mysql;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.FairShare;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ServedLease;
import dev.outbox.store.jdbc.internal.JsonRows;
import dev.outbox.store.jdbc.internal.MessageRows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** Who holds which buckets. */
final class MysqlLeases implements Leases<Handle> {

  /** Each bucket, with whether it is free and has work; of a lease that lasts, whose it is. */
  private static final String BUCKETS =
      """
      select b.bucket, b.worker, ${servedAt}, b.lease_until > utc_timestamp(6) as leased,
        ${free} and (
          (select 1 from ${q}${p}message m force index (primary)
            where m.bucket = b.bucket and m.status = 'PENDING' and m.place = _binary'' limit 1) is not null
          or ${scheduledDue} or ${blockedDue}) as has_work
      from ${q}${p}bucket b force index (primary)
      where b.bucket between 0 and 63
      """;

  /**
   * Locks those of the wanted buckets that nobody else has locked. By their primary key: with ORDER
   * BY and LIMIT, all would be locked before the first is taken.
   */
  private static final String LOCK =
      """
      select b.bucket, b.token + 1 as token, ${servedAt},
        ${scheduledDue} as scheduled, ${blockedDue} as blocked,
        case when b.claim_id is not null and b.takeovers >= 2 then ? else b.singles end as singles,
        case when b.claim_id is null then b.takeovers
          when b.takeovers >= 2 then 0 else b.takeovers + 1 end as takeovers
      from ${q}${p}bucket b force index (primary)
      where ${wanted}
      for update skip locked
      """;

  /** Leases what {@link #lock} locked. */
  private static final String TAKE =
      """
      update json_table(:rows, '$[*]' columns (
        bucket tinyint unsigned path '$[0]', token bigint path '$[1]',
        singles integer path '$[2]', takeovers integer path '$[3]')) l
      straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
      set b.token = l.token, b.singles = l.singles, b.takeovers = l.takeovers,
        b.claim_id = :claimId, b.worker = :worker, b.leased_at = utc_timestamp(6),
        b.lease_until = utc_timestamp(6) + interval :leaseMillis * 1000 microsecond
      """;

  /** Locks leased buckets in ascending order: the order in which their rows lie. */
  private static final String LOCK_HELD =
      """
      select b.bucket,
        timestampdiff(microsecond, sysdate(6), b.lease_until) div 1000 as left_millis,
        ${scheduledDue} as scheduled, ${blockedDue} as blocked
      from ${q}${p}bucket b force index (primary)
      where (${tokens}) and b.claim_id = ?
      order by b.bucket
      for update
      """;

  private static final String RENEW =
      """
      update json_table(:rows, '$[*]' columns (bucket tinyint unsigned path '$[0]')) l
      straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
      set b.leased_at = utc_timestamp(6),
        b.lease_until = utc_timestamp(6) + interval :leaseMillis * 1000 microsecond
      """;

  private static final String HOLD = RENEW + ", b.takeovers = 0";

  private static final String RELEASE =
      """
      update json_table(:rows, '$[*]' columns (
        bucket tinyint unsigned path '$[0]', decided integer path '$[1]',
        settled boolean path '$[2]', keeps_turn boolean path '$[3]')) l
      straight_join ${q}${p}bucket b force index (primary) on b.bucket = l.bucket
      set b.claim_id = null, b.leased_at = null, b.lease_until = null,
        b.served_at = if(l.keeps_turn, b.served_at, utc_timestamp(6)),
        b.takeovers = if(l.settled, 0, b.takeovers),
        b.singles = greatest(0, b.singles - l.decided)
      where b.claim_id = :claimId
      """;

  private final MessageRows rows;
  private final MysqlHolding holding;
  private final String lock;
  private final String free;
  private final String lockHeld;

  MysqlLeases(MysqlText text, MessageRows rows, RelayLocks locks) {
    this.rows = rows;
    holding = new MysqlHolding(this, locks, text);
    lock = text.fill(LOCK);
    free = text.fill("b.bucket in (${buckets}) and ${free}");
    lockHeld = text.fill(LOCK_HELD);
  }

  /** Fewer than by default: the server plans each bucket's part of a read by itself. */
  @Override
  public int mostBuckets() {
    return 8;
  }

  /** A bucket that is free and has work. */
  private record Candidate(int bucket, Instant servedAt) {}

  @Override
  public List<Lease> lease(Handle handle, UUID claimId, Claim.Request request, int most) {
    FairShare share = new FairShare(request.worker());
    List<Candidate> candidates = new ArrayList<>();
    handle
        .createQuery(BUCKETS)
        .map(
            (row, context) -> {
              if (row.getBoolean("leased")) {
                share.leased(row.getString("worker"));
              }
              if (row.getBoolean("has_work")) {
                share.free();
                candidates.add(candidate(row));
              }
              return row.getInt("bucket");
            })
        .list();
    candidates.sort(Comparator.comparing(Candidate::servedAt).thenComparing(Candidate::bucket));
    return take(handle, claimId, request, candidates, share.of(most));
  }

  private Candidate candidate(ResultSet row) throws SQLException {
    return new Candidate(row.getInt("bucket"), rows.instant(row, "served_at"));
  }

  /** Locks buckets, longest unserved first, until there are enough or none is left to try. */
  private List<Lease> take(
      Handle handle, UUID claimId, Claim.Request request, List<Candidate> candidates, int share) {
    return take(
        handle,
        claimId,
        request,
        ServedLease.upTo(share, candidates, some -> lock(handle, request, free(some))));
  }

  /** Leases buckets that meet a condition and that nobody has locked. */
  List<Lease> take(Handle handle, UUID claimId, Claim.Request request, String wanted) {
    return take(handle, claimId, request, lock(handle, request, wanted));
  }

  private static List<Lease> take(
      Handle handle, UUID claimId, Claim.Request request, List<Locked> locked) {
    if (!locked.isEmpty()) {
      handle
          .createUpdate(TAKE)
          .bind("rows", JsonRows.of(locked, Locked::columns))
          .bind("claimId", claimId.toString())
          .bind("worker", request.worker())
          .bind("leaseMillis", request.lease().toMillis())
          .execute();
    }
    return ServedLease.inTurn(locked.stream().map(Locked::served).toList());
  }

  /** A bucket that is locked now, with what its row will have. */
  private record Locked(ServedLease served, int singles, int takeovers) {
    List<?> columns() {
      return List.of(served.lease().bucket(), served.lease().token(), singles, takeovers);
    }
  }

  private String free(List<Candidate> wanted) {
    return free.replace("${buckets}", MysqlText.join(wanted, ", ", Candidate::bucket));
  }

  private List<Locked> lock(Handle handle, Claim.Request request, String wanted) {
    return UnparsedSql.query(handle, lock.replace("${wanted}", wanted))
        .bind(0, request.maxMessages())
        .map(
            (row, context) ->
                new Locked(
                    rows.served(row, Lease.STATELESS, request),
                    row.getInt("singles"),
                    row.getInt("takeovers")))
        .list();
  }

  /** The bucket with this token. */
  static String asIs(int bucket, long token) {
    return "b.bucket = %s and b.token = %s".formatted(bucket, token);
  }

  @Override
  public List<Lease> lockHeld(Handle handle, UUID claimId, Collection<Lease> leases) {
    Map<Integer, Lease> byBucket = new HashMap<>();
    leases.forEach(lease -> byBucket.put(lease.bucket(), lease));
    String tokens = MysqlText.join(leases, " or ", l -> asIs(l.bucket(), l.token()));
    return UnparsedSql.query(handle, lockHeld.replace("${tokens}", tokens))
        .bind(0, claimId.toString())
        .map(
            (row, context) ->
                MessageRows.goesOn(
                    row, requireNonNull(byBucket.get(row.getInt("bucket"))), Lease.STATELESS))
        .list();
  }

  @Override
  public Set<Integer> renew(Handle handle, UUID claimId, Collection<Lease> leases, Duration lease) {
    return prolong(handle, RENEW, claimId, leases, lease);
  }

  /** As {@link Holding#hold}. */
  Set<Integer> hold(Handle handle, UUID claimId, Collection<Lease> leases, Duration lease) {
    return prolong(handle, HOLD, claimId, leases, lease);
  }

  private Set<Integer> prolong(
      Handle handle, String sql, UUID claimId, Collection<Lease> leases, Duration lease) {
    List<Integer> held = lockHeld(handle, claimId, leases).stream().map(Lease::bucket).toList();
    if (!held.isEmpty()) {
      handle
          .createUpdate(sql)
          .bind("rows", JsonRows.of(held, List::of))
          .bind("leaseMillis", lease.toMillis())
          .execute();
    }
    return Set.copyOf(held);
  }

  @Override
  public MysqlHolding holding() {
    return holding;
  }

  @Override
  public void release(Handle handle, UUID claimId, List<Release> releases) {
    handle
        .createUpdate(RELEASE)
        .bind(
            "rows",
            JsonRows.of(
                releases,
                r -> List.of(r.lease().bucket(), r.decided(), r.settled(), r.keepsTurn())))
        .bind("claimId", claimId.toString())
        .execute();
  }
}
