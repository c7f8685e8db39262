package dev.outbox.store.postgres;

import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.CertifiedSequences.Snapshot;
import java.util.HashSet;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/** Asks for the snapshots that {@link CertifiedSequences} wants. */
record Snapshots(BatchStatements statements, CertifiedSequences certified) {

  /** The next transaction's id, and a row for each transaction that is open. */
  private static final String SNAPSHOT =
      """
      select pg_snapshot_xmax(s.now)::text::bigint, x::text::bigint
      from (select pg_current_snapshot() as now) s left join pg_snapshot_xip(s.now) x on true
      """;

  void ask(Handle handle, Sample sample) {
    if (certified.asks(sample)) {
      certified.answered(sample, snapshot(handle));
    }
  }

  private Snapshot snapshot(Handle handle) {
    return statements.query(
        handle,
        SNAPSHOT,
        parameters -> {},
        rows -> {
          long limit = 0;
          Set<Long> open = new HashSet<>();
          while (rows.next()) {
            limit = rows.getLong(1);
            long transaction = rows.getLong(2);
            if (!rows.wasNull()) {
              open.add(transaction);
            }
          }
          return new Snapshot(limit, open);
        });
  }
}
