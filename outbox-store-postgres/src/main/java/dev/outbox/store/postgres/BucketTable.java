package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;

/**
 * The table of the buckets, of which each lease reads every page. Beside an open transaction its
 * rows go to the end, and stay there: docs/design/postgresql.md says why, and how they come to the
 * front again. That needs the whole table for a moment: a relay that waits for its bucket's row
 * must not find it deleted.
 */
final class BucketTable {
  /** Rows on later pages are moved. Without open transactions there are about ten. */
  private static final int FRONT = 64;

  /** From so many pages on it is said. */
  private static final int LONG = 4 * FRONT;

  /** How long relays may have to wait, once a round at most. */
  private static final Duration PATIENCE = Duration.ofMillis(100);

  private static final String MAY_MOVE = "has_table_privilege('${q}${p}bucket', 'delete')";

  private static final String CAN_MOVE =
      "select true from ${q}${p}bucket where ctid >= '(%s,0)' and %s limit 1"
          .formatted(FRONT, MAY_MOVE);

  private static final String BE_PATIENT = "select set_config('lock_timeout', ?, true)";

  private static final String LOCK = "lock table ${q}${p}bucket in exclusive mode";

  private static final String MOVE =
      """
      with moved as (delete from ${q}${p}bucket where ctid >= '(%s,0)' returning *)
      insert into ${q}${p}bucket select * from moved
      """
          .formatted(FRONT);

  private static final String PAGES =
      """
      select '${q}${p}bucket' as name, pages, %s as may_move
      from (select pg_relation_size('${q}${p}bucket') / current_setting('block_size')::int as pages) p
      where pages >= %s
      """
          .formatted(MAY_MOVE, LONG);

  private BucketTable() {}

  /** Moves rows that are far from the front, unless somebody is at the table all the time. */
  static void moveForward(Handle handle) {
    if (handle.createQuery(CAN_MOVE).mapTo(Boolean.class).findOne().isEmpty()) {
      return;
    }
    try {
      handle.select(BE_PATIENT, Long.toString(PATIENCE.toMillis())).mapTo(String.class).one();
      handle.execute(LOCK);
      handle.execute(MOVE);
    } catch (UnableToExecuteStatementException e) {
      if (!(e.getCause() instanceof SQLException late) || !"55P03".equals(late.getSQLState())) {
        throw e;
      }
      handle.execute("rollback"); // the next round tries again
    }
  }

  static List<Finding> findings(Handle handle) {
    return Finding.orFine(
        "bucket table",
        handle
            .createQuery(PAGES)
            .map(
                (row, context) ->
                    Finding.warning(
                        "bucket table",
                        "table %s has %s pages for its 64 rows, and each lease reads them all"
                            .formatted(row.getString("name"), row.getLong("pages")),
                        "end transactions that stay open; then housekeeping moves the rows to the front%s, and autovacuum cuts off the rest"
                            .formatted(
                                row.getBoolean("may_move")
                                    ? ""
                                    : ", where the relay's user may (grant delete on %s to it)"
                                        .formatted(row.getString("name")))))
            .list());
  }
}
