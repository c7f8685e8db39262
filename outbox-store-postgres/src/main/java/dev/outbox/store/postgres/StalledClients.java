package dev.outbox.store.postgres;

import java.time.Duration;
import org.jdbi.v3.core.Handle;

/**
 * Ends the server processes of clients that stopped while a large result was on its way to them,
 * where {@code tcp_user_timeout} ({@link TransactionSettings}) does not: behind a pooler that
 * reaches the server by a Unix socket, which knows no such limit. No limit of the server's own
 * interrupts a process that writes, {@code transaction_timeout} neither; only its end does, and a
 * role may end its own.
 */
final class StalledClients {
  /** Of ours are those that have written the buckets' table. */
  private static final String END =
      """
      select count(pg_terminate_backend(a.pid)) from pg_stat_activity a
      where a.usename = current_user and a.datname = current_database()
        and a.wait_event = 'ClientWrite'
        and a.state_change < clock_timestamp() - :millis * interval '1 millisecond'
        and exists (select * from pg_locks l where l.pid = a.pid and l.locktype = 'relation'
          and l.relation = to_regclass('${q}${p}bucket') and l.mode = 'RowExclusiveLock')
      """;

  private StalledClients() {}

  /**
   * @param longerThan that the process has been at its statement
   */
  static void end(Handle handle, Duration longerThan) {
    long ignored =
        handle.createQuery(END).bind("millis", longerThan.toMillis()).mapTo(Long.class).one();
  }
}
