package dev.outbox.store.postgres;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Announcement;
import dev.outbox.store.core.internal.Holding;
import dev.outbox.store.core.internal.Holding.Seen;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ServedLease;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;
import org.postgresql.PGConnection;

/** Which relays live, by shared advisory locks: docs/design/holding.md. */
record PostgresHolding(PostgresLeases leases, BatchStatements statements, Pooler pooler)
    implements Holding<Handle> {
  private static final String TABLE = "'${q}${p}bucket'::regclass::oid";
  private static final String TABLE_AS_INT = TABLE + "::bigint::bit(32)::int";

  /** The server ends a session that says nothing for so long, as when its host has vanished. */
  private static final String BEGIN =
      """
      select l.shown,
        set_config('outbox.silence', current_setting('idle_session_timeout'), false),
        set_config('idle_session_timeout', '30s', false)
      from (select pg_try_advisory_lock_shared(${table}, ?) as shown offset 0) l
      where l.shown
      """
          .replace("${table}", TABLE_AS_INT);

  private static final String LEAVE =
      """
      select pg_advisory_unlock_shared(${table}, ?),
        set_config('idle_session_timeout', current_setting('outbox.silence'), false)
      """
          .replace("${table}", TABLE_AS_INT);

  private static final String CHANGE =
      "select pg_try_advisory_lock_shared(${table}, ?), pg_advisory_unlock_shared(${table}, ?)"
          .replace("${table}", TABLE_AS_INT);

  /**
   * The leases are of the statement's snapshot and the locks are read after it, so no relay is
   * missed that has come meanwhile.
   */
  private static final String LOOK =
      """
      with held as materialized (
        select b.bucket, b.token, case when ${free} then ${nobody}
          when substr(b.claim_id::text, 15, 1) = '8'
          then ('x' || right(b.claim_id::text, 8))::bit(32)::int::bigint
          else ${anonymous} end as holder
        from ${q}${p}bucket b
        where b.ctid >= '(0,0)'
      )
      select bucket, token, holder,
        pg_postmaster_start_time() < statement_timestamp() - interval '5 seconds'
      from held
      union all
      select null, null, l.objid::bigint, null
      from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and l.granted
        and l.classid = ${table} and l.objsubid = 2
      """
          .replace("${nobody}", "" + SeenBucket.FREE)
          .replace("${anonymous}", "" + SeenBucket.ANONYMOUS)
          .replace("${table}", TABLE);

  private static final String TAKE =
      """
      with now as materialized (
        ${history}
      ), picked as materialized (
        select b.ctid as place, ${marked} as marked, false as scheduled, false as blocked, b.served_at
        from ${q}${p}bucket b join unnest(?::int[], ?::bigint[], ?::boolean[]) t (bucket, token, was_free)
          on t.bucket = b.bucket and t.token = b.token
        cross join now
        where not t.was_free or ${free}
        order by b.bucket
        for no key update of b skip locked
      )
      """
          + PostgresLeases.TAKE;

  /** The oid makes it this outbox's: what is sent to a channel reaches the whole database. */
  private static final String CHANNEL = "'outbox_' || " + TABLE;

  private static final String ANNOUNCE =
      """
      select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '1s', true),
        pg_notify(%s, ?)
      """
          .formatted(CHANNEL);

  @Override
  public boolean isSeen(Handle handle) {
    try {
      return pooler.keepsSession(handle.getConnection());
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  @Override
  public boolean begin(Handle handle, int code) {
    return ask(handle, BEGIN, code);
  }

  @Override
  public void change(Handle handle, int before, int after) {
    boolean ignored = ask(handle, CHANGE, after, before);
  }

  @Override
  public void leave(Handle handle, int code) {
    boolean ignored = ask(handle, LEAVE, code);
  }

  private boolean ask(Handle handle, String sql, int... codes) {
    return statements.query(
        handle,
        sql,
        parameters -> {
          for (int code : codes) {
            parameters.add(code);
          }
        },
        row -> row.next() && row.getBoolean(1));
  }

  /** Reads what the server says of its own accord, as that it ends the session. */
  @Override
  public Optional<Announcement> check(Handle handle, Duration most) {
    try {
      Connection connection = handle.getConnection();
      if (!Pooler.isDriver(connection)) {
        LockSupport.parkNanos(most.toNanos());
        return Optional.empty();
      }
      PGConnection session = connection.unwrap(PGConnection.class);
      return Arrays.stream(session.getNotifications((int) Math.max(1, most.toMillis())))
          .filter(heard -> heard.getPID() != session.getBackendPID())
          .map(heard -> Announcement.of(heard.getParameter()))
          .reduce(Announcement::and);
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  @Override
  public boolean announces() {
    return true;
  }

  @Override
  public void listen(Handle handle, boolean on) {
    String channel = handle.createQuery("select " + CHANNEL).mapTo(String.class).one();
    handle.execute((on ? "listen " : "unlisten ") + channel);
  }

  @Override
  public void announce(Handle handle, Announcement announcement) {
    String ignored =
        handle.createQuery(ANNOUNCE).bind(0, announcement.text()).mapTo(String.class).one();
  }

  /** Without the settings of other transactions, as {@link #announce}: it needs none of them. */
  @Override
  public Seen look(Handle handle) {
    List<SeenBucket> buckets = new ArrayList<>();
    List<Integer> codes = new ArrayList<>();
    boolean settled =
        handle
            .createQuery(LOOK)
            .reduceResultSet(
                false,
                (before, row, context) -> {
                  int bucket = row.getInt(1);
                  if (row.wasNull()) {
                    codes.add(row.getInt(3));
                    return before;
                  }
                  buckets.add(new SeenBucket(bucket, row.getLong(2), row.getLong(3)));
                  return row.getBoolean(4);
                });
    return new Seen(buckets, codes, settled);
  }

  @Override
  public List<Lease> take(
      Handle handle, UUID claimId, Claim.Request request, Collection<SeenBucket> seen) {
    return leases
        .take(
            handle,
            TAKE,
            parameters ->
                parameters
                    .integers(seen, SeenBucket::bucket)
                    .longs(seen, SeenBucket::token)
                    .booleans(seen, SeenBucket::isFree),
            claimId,
            request)
        .stream()
        .map(ServedLease::lease)
        .toList();
  }

  @Override
  public Set<Integer> hold(Handle handle, UUID claimId, Collection<Lease> held, Duration lease) {
    return leases.renew(handle, PostgresLeases.HOLD, claimId, held, lease);
  }

  @Override
  public Lease forget(Lease lease) {
    return lease.with(LowWaterMark.stored(0, LowWaterMark.of(lease).sample()));
  }
}
