package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Database.Gone;
import dev.outbox.store.core.internal.Database.Sessions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;
import org.postgresql.PGConnection;

/**
 * Which relays live: each holds a shared advisory lock of two numbers, the oid of the table of
 * buckets and its own. Whoever may connect can see in {@code pg_locks} which of them are held. The
 * lock is shared, so that a relay that comes back need not wait until the server has noticed that
 * its last session is gone.
 */
final class PostgresSessions implements Sessions<Handle> {
  private static final String TABLE = "'${q}${p}bucket'::regclass::oid";

  private static final String BEGIN =
      "select pg_try_advisory_lock_shared(%s::bigint::bit(32)::int, ?)".formatted(TABLE);

  private static final String LEAVE =
      "select pg_advisory_unlock_shared(%s::bigint::bit(32)::int, ?)".formatted(TABLE);

  /**
   * The leases are of the statement's snapshot and the locks are read after it, so no relay is
   * missed that has come meanwhile.
   */
  private static final String GONE =
      """
      with held as materialized (
        select b.bucket, b.token, ('x' || right(b.claim_id::text, 8))::bit(32)::int::bigint as relay
        from ${q}${p}bucket b
        where b.ctid >= '(0,0)' and b.lease_until > statement_timestamp()
          and substr(b.claim_id::text, 15, 1) = '8'
      ), present as (
        select l.objid::bigint as relay
        from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.granted
          and l.classid = ${table} and l.objsubid = 2
      )
      select h.bucket, h.token
      from held h
      where h.relay not in (select relay from present)
        and :relay in (select relay from present)
        and pg_postmaster_start_time() < statement_timestamp() - interval '5 seconds'
      """
          .replace("${table}", TABLE);

  private static final String END =
      """
      update ${q}${p}bucket b set lease_until = statement_timestamp()
      from (
        select b.ctid as place
        from ${q}${p}bucket b join unnest(?, ?) g (bucket, token)
          on g.bucket = b.bucket and g.token = b.token
        order by b.bucket
        for no key update of b skip locked
      ) ended
      where b.ctid = ended.place
      """;

  private final BatchStatements statements;
  private final Pooler pooler;

  PostgresSessions(BatchStatements statements, Pooler pooler) {
    this.statements = statements;
    this.pooler = pooler;
  }

  @Override
  public boolean begin(Handle handle, int relay) {
    try {
      return pooler.keepsSession(handle.getConnection())
          && statements.query(
              handle,
              BEGIN,
              parameters -> parameters.add(relay),
              row -> row.next() && row.getBoolean(1));
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  @Override
  public void leave(Handle handle, int relay) {
    boolean ignored =
        statements.query(handle, LEAVE, parameters -> parameters.add(relay), row -> row.next());
  }

  /** Reads what the server may have said of its own accord, as that it ends the session. */
  @Override
  public void check(Handle handle) {
    try {
      Connection connection = handle.getConnection();
      if (Pooler.isDriver(connection)) {
        Object ignored = connection.unwrap(PGConnection.class).getNotifications(1);
      }
    } catch (SQLException e) {
      throw new TransactionException(e);
    }
  }

  /** Without the settings of other transactions: it is one statement, and asked each second. */
  @Override
  public List<Gone> gone(Handle handle, int relay) {
    return handle
        .createQuery(GONE)
        .bind("relay", relay)
        .map((row, context) -> new Gone(row.getInt("bucket"), row.getLong("token")))
        .list();
  }

  @Override
  public void end(Handle handle, Collection<Gone> leases) {
    int ignored =
        statements.update(
            handle,
            END,
            parameters -> parameters.integers(leases, Gone::bucket).longs(leases, Gone::token));
  }
}
