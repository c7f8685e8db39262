package dev.outbox.store.mysql;

import static java.util.concurrent.TimeUnit.SECONDS;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Announcement;
import dev.outbox.store.core.internal.Holding;
import dev.outbox.store.core.internal.Holding.Seen;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.Lease;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;

/** Which relays live, by {@link RelayLocks}, and which buckets each holds. */
final class MysqlHolding implements Holding<Handle> {

  /**
   * So long after its start all relays that live are back at a server: after five seconds, and the
   * server's uptime is in whole ones.
   */
  private static final int OTHERS_COME_BACK_SECONDS = 6;

  /** How long a ping may take. */
  private static final int ANSWERS_SECONDS = 5;

  /** Where each writes, but a named lock is known on one server only. */
  static final String IS_CLUSTER =
      """
      show global variables where variable_name = 'wsrep_on' and value = 'ON'
        or variable_name = 'group_replication_single_primary_mode' and value = 'OFF'
      """;

  /** The server ends a session that says nothing for so long, as when its host has vanished. */
  private static final String LIMIT_SILENCE =
      "set @outbox_silence = @@session.wait_timeout, @@session.wait_timeout = 30";

  private static final String UNLIMIT_SILENCE = "set @@session.wait_timeout = @outbox_silence";

  private static final String UPTIME = "show global status where variable_name = 'Uptime'";

  /** Now, and not when the statement began; UTC, whatever the session's time zone. */
  private static final String NOW =
      "(utc_timestamp(6) + interval timestampdiff(microsecond, now(6), sysdate(6)) microsecond)";

  /** The locks are asked after the rows, so no relay is missed that has come meanwhile. */
  private static final String LOOK =
      """
      select b.bucket, b.token, case when ${free} then ${nobody}
        when substr(b.claim_id, 15, 1) = '8' then cast(conv(right(b.claim_id, 8), 16, 10) as signed)
        else ${anonymous} end
      from ${q}${p}bucket b force index (primary)
      where b.bucket between 0 and 63
      union all
      """
          .replace("${nobody}", "" + SeenBucket.FREE)
          .replace("${anonymous}", "" + SeenBucket.ANONYMOUS);

  private final MysqlLeases leases;
  private final RelayLocks locks;
  private final String look;
  private final String free;

  /** When all are back at the server that the last session began on; by {@link System#nanoTime}. */
  private volatile long settledAt;

  MysqlHolding(MysqlLeases leases, RelayLocks locks, MysqlText text) {
    this.leases = leases;
    this.locks = locks;
    look = text.fill(LOOK).replace("sysdate(6)", NOW);
    free = text.fill("${free}");
  }

  @Override
  public boolean isSeen(Handle handle) {
    return UnparsedSql.query(handle, IS_CLUSTER).mapTo(String.class).findFirst().isEmpty();
  }

  @Override
  public boolean begin(Handle handle, int code) {
    int uptime = UnparsedSql.query(handle, UPTIME).map((row, context) -> row.getInt(2)).one();
    settledAt = System.nanoTime() + SECONDS.toNanos(Math.max(0, OTHERS_COME_BACK_SECONDS - uptime));
    boolean shown = locks.show(handle, code);
    if (shown) {
      handle.execute(LIMIT_SILENCE);
    } else {
      locks.drop(handle);
    }
    return shown;
  }

  @Override
  public void change(Handle handle, int before, int after) {
    locks.change(handle, before, after);
  }

  @Override
  public void leave(Handle handle, int code) {
    locks.drop(handle);
    handle.execute(UNLIMIT_SILENCE);
  }

  /** Pings: neither driver says otherwise what the server has said of its own accord. */
  @Override
  public Optional<Announcement> check(Handle handle, Duration most) {
    try {
      if (!handle.getConnection().isValid(ANSWERS_SECONDS)) {
        throw RelayLocks.ended();
      }
      return Optional.empty();
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  @Override
  public Seen look(Handle handle) {
    List<SeenBucket> buckets = new ArrayList<>();
    List<Integer> codes = new ArrayList<>();
    UnparsedSql.query(handle, look + locks.codes(handle))
        .map(
            (row, context) -> {
              int bucket = row.getInt(1);
              return row.wasNull()
                  ? codes.add(row.getInt(3))
                  : buckets.add(new SeenBucket(bucket, row.getLong(2), row.getLong(3)));
            })
        .list();
    return new Seen(buckets, codes, System.nanoTime() - settledAt >= 0);
  }

  @Override
  public List<Lease> take(
      Handle handle, UUID claimId, Claim.Request request, Collection<SeenBucket> seen) {
    String asSeen =
        MysqlText.join(
            seen,
            " or ",
            one ->
                MysqlLeases.asIs(one.bucket(), one.token()) + (one.isFree() ? " and " + free : ""));
    return leases.take(handle, claimId, request, asSeen);
  }

  @Override
  public Set<Integer> hold(Handle handle, UUID claimId, Collection<Lease> held, Duration lease) {
    return leases.hold(handle, claimId, held, lease);
  }

  /** Nothing is remembered. */
  @Override
  public Lease forget(Lease lease) {
    return lease;
  }
}
