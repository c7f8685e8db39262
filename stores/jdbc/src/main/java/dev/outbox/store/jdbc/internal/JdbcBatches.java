package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Key;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Statements that are run for each of some rows in turn, as one batch of JDBC. */
public final class JdbcBatches {
  private JdbcBatches() {}

  /** Binds a row's values. */
  public interface Binder<R> {
    void bind(PreparedBatch batch, R row);
  }

  /** Returns how many rows of the table each changed. */
  public static <R> int[] run(Handle handle, String sql, Collection<R> rows, Binder<R> binder) {
    if (rows.isEmpty()) {
      return new int[0];
    }
    try (PreparedBatch batch = handle.prepareBatch(sql)) {
      for (R row : rows) {
        binder.bind(batch, row);
        batch.add();
      }
      return batch.execute();
    }
  }

  /** Returns those rows for which the statement changed something. */
  public static <R> List<R> changed(Handle handle, String sql, List<R> rows, Binder<R> binder) {
    int[] counts = run(handle, sql, rows, binder);
    return IntStream.range(0, counts.length)
        .filter(i -> counts[i] > 0)
        .mapToObj(rows::get)
        .toList();
  }

  /** Runs a statement with {@code :bucket, :key, :seq} for each key. */
  public static void forKeys(Handle handle, String sql, Collection<Key> keys) {
    run(
        handle,
        sql,
        keys,
        (batch, key) ->
            batch.bind("bucket", key.bucket()).bind("key", key.key()).bind("seq", key.sequence()));
  }

  /** Binds {@code :bucket, :key, :seq, :lowSeq, :delayMillis, :halted}. */
  public static void bind(PreparedBatch batch, Block block) {
    batch
        .bind("bucket", block.bucket())
        .bind("key", block.key())
        .bind("seq", block.sequence())
        .bind("lowSeq", block.lowSequence())
        .bind("delayMillis", block.delay().toMillis())
        .bind("halted", block.halted());
  }
}
