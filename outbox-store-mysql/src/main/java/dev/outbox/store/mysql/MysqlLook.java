package dev.outbox.store.mysql;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.jdbc.internal.MessageRows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Looks at buckets that are held, without locking them. One statement says which of them have
 * messages, and mostly that is all. Another one reads those: it says in its own snapshot that they
 * are still held, so that the order of a key needs nothing of the first.
 */
final class MysqlLook {
  private static final String HELD =
      """
      from ${q}${p}bucket b force index (primary)
      where b.bucket in (${buckets}) and b.claim_id = '${claimId}' and b.lease_until > utc_timestamp(6)
      """;

  /** A lock that is seen says that this is the server where the others see the relay. */
  private static final String BUCKETS =
      """
      select b.bucket, b.token, ${scheduledDue} or ${blockedDue} as others_due,
        ${hasBlocked} as has_blocked,
        (select 1 from ${q}${p}message m force index (primary)
          where m.bucket = b.bucket and m.status = 'PENDING' and m.place = _binary'' limit 1) is not null as pending,
        ${isSeen} as seen, ${durable} as durable, @@session.${isolation} as isolation
      """
          + HELD;

  /** In place of a message, the token of each bucket that is as it was. */
  private static final String STILL_HELD =
      "union all (select b.bucket, "
          + "null, ".repeat(MessageRows.HORIZON - 2)
          + "case when ${isSeen} and (b.bucket in (${some}) or not ${hasBlocked}) then b.token end"
          + " as horizon "
          + HELD
          + ")";

  private static final Look UNSURE = new Look(new Pending(List.of(), List.of()), false, false);

  private final MysqlReads reads;
  private final MessageRows rows;
  private final RelayLocks locks;
  private final String buckets;
  private final String stillHeld;

  MysqlLook(MysqlReads reads, MessageRows rows, MysqlText text, RelayLocks locks) {
    this.reads = reads;
    this.rows = rows;
    this.locks = locks;
    buckets = text.fill(BUCKETS);
    stillHeld = text.fill(STILL_HELD);
  }

  /** See {@link dev.outbox.store.core.internal.Database.Reads#look}. */
  Look at(Handle handle, UUID claimId, List<Lease> leases, Limits limits) {
    Found found = new Found(leases);
    UnparsedSql.query(handle, of(handle, buckets, claimId, leases))
        .scanResultSet((result, context) -> found.read(result.get()));
    if (!found.isSure(handle.isInTransaction())) {
      return UNSURE;
    }
    List<Lease> pending =
        leases.stream().filter(lease -> found.pending.contains(lease.bucket())).toList();
    return pending.isEmpty()
        ? new Look(new Pending(List.of(), leases), true, true)
        : read(handle, claimId, pending, found.withBlocked, limits)
            .map(rows -> new Look(new Pending(rows, leases), true, found.durable))
            .orElse(UNSURE);
  }

  /** Each statement asks for itself: a proxy may send them to two servers. */
  private String of(Handle handle, String sql, UUID claimId, List<Lease> leases) {
    return sql.replace("${isSeen}", locks.isSeen(handle, claimId))
        .replace("${buckets}", MysqlText.join(leases, ", ", Lease::bucket))
        .replace("${claimId}", claimId.toString());
  }

  /** What the first statement says. */
  private static final class Found {
    private final Map<Integer, Long> unseen = new HashMap<>();
    private final Set<Integer> pending = new HashSet<>();
    private final Set<Integer> withBlocked = new HashSet<>();
    private boolean othersDue;
    private boolean seen;
    private boolean durable;
    private boolean seesUncommitted;

    Found(List<Lease> leases) {
      leases.forEach(lease -> unseen.put(lease.bucket(), lease.token()));
    }

    private Found read(ResultSet row) throws SQLException {
      while (row.next()) {
        int bucket = row.getInt("bucket");
        boolean ignored = unseen.remove(bucket, row.getLong("token"));
        if (row.getBoolean("pending")) {
          pending.add(bucket);
        }
        if (row.getBoolean("has_blocked")) {
          withBlocked.add(bucket);
        }
        othersDue |= row.getBoolean("others_due");
        seen = row.getBoolean("seen");
        durable = row.getBoolean("durable");
        seesUncommitted = row.getString("isolation").equals("READ-UNCOMMITTED");
      }
      return this;
    }

    /**
     * @param transaction whether it has a level of its own
     */
    private boolean isSure(boolean transaction) {
      return seen && unseen.isEmpty() && !othersDue && (transaction || !seesUncommitted);
    }
  }

  /** Nothing when the snapshot does not have all leases as they were. */
  private Optional<List<Row>> read(
      Handle handle, UUID claimId, List<Lease> pending, Set<Integer> withBlocked, Limits limits) {
    String some = withBlocked.isEmpty() ? "-1" : MysqlText.join(withBlocked, ", ", b -> b);
    Map<Integer, Long> unseen = new HashMap<>();
    pending.forEach(lease -> unseen.put(lease.bucket(), lease.token()));
    return UnparsedSql.query(
            handle,
            reads.pending(pending, withBlocked, limits)
                + of(handle, stillHeld, claimId, pending).replace("${some}", some))
        .scanResultSet(
            (result, context) -> {
              ResultSet row = result.get();
              List<Row> found = new ArrayList<>();
              while (row.next()) {
                if (MessageRows.isMessage(row)) {
                  Row message = rows.row(row, Status.PENDING);
                  if (message == null) {
                    return Optional.empty();
                  }
                  found.add(message);
                } else {
                  boolean ignored =
                      unseen.remove(row.getInt("bucket"), row.getLong(MessageRows.HORIZON));
                }
              }
              found.sort(Comparator.comparingLong(Row::sequence));
              return unseen.isEmpty() ? Optional.of(found) : Optional.empty();
            });
  }
}
