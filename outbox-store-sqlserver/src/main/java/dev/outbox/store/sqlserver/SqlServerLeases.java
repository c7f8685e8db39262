package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.FairShare;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ServedLease;
import dev.outbox.store.jdbc.internal.JdbcBatches;
import dev.outbox.store.jdbc.internal.MessageRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jspecify.annotations.Nullable;

/** Who holds which buckets. */
final class SqlServerLeases implements Leases<Handle> {
  private static final int MAX_WORKER = 255;

  /**
   * All buckets, longest unserved first: by whom each is leased; whether it is free, and has work.
   * Takes no lock on them, and so waits for no other relay; that of producers' open rows is not
   * work.
   */
  private static final String BUCKETS =
      """
      select b.bucket,
        case when b.lease_until > ${utc} then b.worker end as leased_by,
        case when ${free} then 1 else 0 end as free,
        case when exists (select 1 from ${q}${p}message m ${seekPast}
          where m.bucket = b.bucket and m.status = N'PENDING' and m.place = 0x00)
          then 1 else 0 end as pending,
        ${due}
      from ${q}${p}bucket b ${dirty}
      order by ${servedAt}, b.bucket
      """;

  /**
   * Leases one bucket if it still is free. In an UPDATE, READPAST is applied when reading data to
   * identify which records to update: a row that somebody else has locked is skipped, not waited
   * for, and counts as not changed. One statement a bucket, found by the whole primary key: a
   * statement that sorts or scans would lock, to the transaction's end, more than it takes, and a
   * second relay would get nothing. Everything that makes the bucket free is asked of the row that
   * is locked.
   */
  private static final String LEASE =
      """
      update ${q}${p}bucket ${past} set
        token = token + 1,
        claim_id = :claimId,
        worker = :worker,
        leased_at = sysutcdatetime(),
        lease_until = ${later},
        takeovers = case when claim_id is null then takeovers
          when takeovers >= 2 then 0 else takeovers + 1 end,
        singles = case when claim_id is not null and takeovers >= 2 then :mostMessages
          else singles end
      where bucket = :bucket and ${free}
      """
          .replace("${later}", SqlServerText.later(":leaseMillis"))
          .replace("${free}", SqlServerText.FREE.replace("b.", ""));

  /** What was leased; our own locks are not in our way. */
  private static final String LEASED =
      """
      select b.bucket, b.token, ${servedAt} as served_at, b.singles,
        ${due}
      from ${q}${p}bucket b ${past}
      where b.claim_id = :claimId
      """;

  /**
   * Locks one bucket that is still held under this token. It really changes the row: an exclusive
   * lock is held to the transaction's end, with optimized locking (Azure SQL) too, where a row that
   * is only read or not changed may not stay locked.
   */
  private static final String LOCK =
      """
      update ${q}${p}bucket set settles = settles + 1
      where bucket = :bucket and claim_id = :claimId and token = :token
      """;

  private static final String LOCKED =
      """
      select b.bucket, datediff_big(millisecond, sysutcdatetime(), b.lease_until) as left_millis,
                ${due}
      from ${q}${p}bucket b ${past}
      where b.claim_id = :claimId
      """;

  private static final String RENEW =
      """
      update ${q}${p}bucket set leased_at = sysutcdatetime(), lease_until = ${later}
      where bucket = :bucket and claim_id = :claimId and token = :token
      """
          .replace("${later}", SqlServerText.later(":leaseMillis"));

  private static final String RELEASE =
      """
      update ${q}${p}bucket set
        claim_id = null, leased_at = null, lease_until = null,
        served_at = case when :keepsTurn = 1 then served_at else sysutcdatetime() end,
        takeovers = case when :settled = 1 then 0 else takeovers end,
        singles = case when singles > :decided then singles - :decided else 0 end
      where bucket = :bucket and claim_id = :claimId
      """;

  private final MessageRows rows;

  SqlServerLeases(MessageRows rows) {
    this.rows = rows;
  }

  /** Chooses without locks, then tries each by itself until there are enough. */
  @Override
  public List<Lease> lease(Handle handle, UUID claimId, Claim.Request request, int most) {
    FairShare share = new FairShare(worker(request));
    List<Integer> free = new ArrayList<>();
    for (Bucket bucket : buckets(handle)) {
      if (bucket.hasWork()) {
        share.free();
        free.add(bucket.number());
      } else if (bucket.leasedBy() != null) {
        share.leased(bucket.leasedBy());
      }
    }
    List<Integer> leased =
        ServedLease.upTo(share.of(most), free, some -> lease(handle, claimId, request, some));
    return leased.isEmpty() ? List.of() : leased(handle, claimId, request, Set.copyOf(leased));
  }

  /**
   * A bucket as it stands.
   *
   * @param hasWork and is free
   * @param leasedBy the worker, while its lease lasts
   */
  private record Bucket(int number, boolean hasWork, @Nullable String leasedBy) {}

  private List<Bucket> buckets(Handle handle) {
    return handle
        .createQuery(BUCKETS)
        .map(
            (row, context) ->
                new Bucket(
                    row.getInt("bucket"),
                    row.getBoolean("free")
                        && (row.getBoolean("pending")
                            || row.getBoolean("scheduled")
                            || row.getBoolean("blocked")),
                    row.getString("leased_by")))
        .list();
  }

  private Set<Integer> lease(
      Handle handle, UUID claimId, Claim.Request request, List<Integer> buckets) {
    return Set.copyOf(
        JdbcBatches.changed(
            handle,
            LEASE,
            buckets,
            (batch, bucket) ->
                batch
                    .bind("bucket", bucket)
                    .bind("claimId", claimId.toString())
                    .bind("worker", worker(request))
                    .bind("leaseMillis", request.lease().toMillis())
                    .bind("mostMessages", request.maxMessages())));
  }

  private List<Lease> leased(
      Handle handle, UUID claimId, Claim.Request request, Set<Integer> buckets) {
    return ServedLease.inTurn(
        handle
            .createQuery(LEASED)
            .bind("claimId", claimId.toString())
            .map((row, context) -> rows.served(row, Lease.STATELESS, request))
            .filter(served -> buckets.contains(served.lease().bucket()))
            .list());
  }

  private static String worker(Claim.Request request) {
    String name = request.worker();
    return name.length() > MAX_WORKER ? name.substring(0, MAX_WORKER) : name;
  }

  @Override
  public List<Lease> lockHeld(Handle handle, UUID claimId, Collection<Lease> leases) {
    Set<Integer> locked = changed(handle, LOCK, claimId, leases, batch -> {});
    if (locked.isEmpty()) {
      return List.of();
    }
    Map<Integer, Lease> held = new HashMap<>();
    leases.stream()
        .filter(lease -> locked.contains(lease.bucket()))
        .forEach(lease -> held.put(lease.bucket(), lease));
    return handle
        .createQuery(LOCKED)
        .bind("claimId", claimId.toString())
        .map(
            (row, context) -> {
              Lease lease = held.get(row.getInt("bucket"));
              return lease == null
                  ? Optional.<Lease>empty()
                  : Optional.of(MessageRows.goesOn(row, lease, Lease.STATELESS));
            })
        .stream()
        .flatMap(Optional::stream)
        .toList();
  }

  @Override
  public Set<Integer> renew(Handle handle, UUID claimId, Collection<Lease> leases, Duration lease) {
    return changed(
        handle, RENEW, claimId, leases, batch -> batch.bind("leaseMillis", lease.toMillis()));
  }

  /** The buckets that the statement changed, asked in ascending order. */
  private static Set<Integer> changed(
      Handle handle,
      String sql,
      UUID claimId,
      Collection<Lease> leases,
      Consumer<PreparedBatch> more) {
    List<Lease> ascending = leases.stream().sorted(Comparator.comparingInt(Lease::bucket)).toList();
    return JdbcBatches.changed(
            handle,
            sql,
            ascending,
            (batch, lease) ->
                more.accept(
                    batch
                        .bind("bucket", lease.bucket())
                        .bind("claimId", claimId.toString())
                        .bind("token", lease.token())))
        .stream()
        .map(Lease::bucket)
        .collect(Collectors.toSet());
  }

  @Override
  public void release(Handle handle, UUID claimId, List<Release> releases) {
    int[] ignored =
        JdbcBatches.run(
            handle,
            RELEASE,
            releases,
            (batch, release) ->
                batch
                    .bind("bucket", release.lease().bucket())
                    .bind("claimId", claimId.toString())
                    .bind("decided", release.decided())
                    .bind("settled", release.settled())
                    .bind("keepsTurn", release.keepsTurn()));
  }
}
