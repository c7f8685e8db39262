package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * Transactions that have been open for long. Vacuum removes nothing that was deleted since the
 * oldest of them began, so claims find more and more dead rows; and while one with an id is open
 * the low-water marks stand still.
 *
 * <p>What other users' sessions do is shown to members of {@code pg_read_all_stats} only; prepared
 * transactions are shown to everybody.
 */
final class OldTransactions {

  /** Younger ones are nothing to speak of. */
  static final Duration OLD = Duration.ofMinutes(1);

  private static final String SQL =
      """
      select format('a prepared transaction, %L of user %s in database %s, has been open for %s s',
          p.gid, p.owner, p.database, extract(epoch from statement_timestamp() - p.prepared)::bigint) as what,
        format('rollback prepared %1$L; or, if it is to hold, commit prepared %1$L', p.gid) as remedy,
        p.prepared as since
      from pg_prepared_xacts p
      where p.prepared <= statement_timestamp() - :millis * interval '1 millisecond'
      union all
      select format('session %s of user %s (application %L) has had a transaction open for %s s',
          a.pid, a.usename, a.application_name,
          extract(epoch from statement_timestamp() - a.xact_start)::bigint),
        format('select pg_terminate_backend(%s)', a.pid), a.xact_start
      from pg_stat_activity a
      where (a.backend_xmin is not null or a.backend_xid is not null)
        and a.backend_type = 'client backend' and a.usename is not null and a.pid <> pg_backend_pid()
        and a.xact_start <= statement_timestamp() - :millis * interval '1 millisecond'
      order by since
      limit 5
      """;

  private OldTransactions() {}

  /** One for each of the oldest. */
  static List<Finding> findings(Handle handle, Duration old) {
    return handle
        .createQuery(SQL)
        .bind("millis", old.toMillis())
        .map(
            (row, context) ->
                Finding.warning(
                    "open transactions",
                    "%s, so what was delivered since cannot be removed, and claims get slower and slower"
                        .formatted(row.getString("what")),
                    row.getString("remedy")))
        .list();
  }
}
