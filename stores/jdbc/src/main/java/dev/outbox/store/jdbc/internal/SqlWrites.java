package dev.outbox.store.jdbc.internal;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Writes messages by statements that have the same form on all databases. */
public abstract class SqlWrites implements Writes<Handle> {

  /**
   * The texts of its statements. The first three are for {@link SqlWrites#forRows}.
   *
   * @param moveToBlocked those that are PENDING or SCHEDULED become BLOCKED
   * @param moveToScheduled those that are PENDING become SCHEDULED
   * @param count {@code :by}: adds to the attempts of what is not dead, not below 0 nor beyond what
   *     an int holds
   * @param fail {@code :bucket, :seq, :id, :attempts, :availableAt, :attemptsAfter, :status,
   *     :error}; changes the row that has this sequence, this id, these attempts and this time, and
   *     is not dead. The time is ISO 8601 in UTC without a zone, or null; one before the year 1 or
   *     after 9999 is the nearest within these
   * @param lower {@code :bucket, :key, :seq}
   */
  public record Texts(
      String moveToBlocked, String moveToScheduled, String count, String fail, String lower) {}

  private final Texts texts;
  private final boolean archives;

  /**
   * @param archives whether delivered messages go into an archive
   */
  protected SqlWrites(Texts texts, boolean archives) {
    this.texts = texts;
    this.archives = archives;
  }

  @Override
  public final boolean archives() {
    return archives;
  }

  /**
   * Runs a statement for the messages with these buckets, sequences and ids.
   *
   * @return how many rows it changed
   */
  protected abstract int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more);

  @Override
  public final void move(Handle handle, Collection<ToMove> moves) {
    unlessEmpty(handle, texts.moveToBlocked(), to(Status.BLOCKED, moves), Map.of());
    unlessEmpty(handle, texts.moveToScheduled(), to(Status.SCHEDULED, moves), Map.of());
  }

  private static List<ToMove> to(Status target, Collection<ToMove> moves) {
    return moves.stream().filter(move -> move.target() == target).toList();
  }

  @Override
  public final void count(Handle handle, Collection<Claimable> messages, int by) {
    unlessEmpty(handle, texts.count(), messages, Map.of("by", by));
  }

  private void unlessEmpty(
      Handle handle, String sql, Collection<? extends OfMessage> messages, Map<String, ?> more) {
    if (!messages.isEmpty()) {
      int ignored = forRows(handle, sql, messages, more);
    }
  }

  @Override
  public final Set<Long> fail(Handle handle, List<Failure> failures) {
    return JdbcBatches.changed(handle, texts.fail(), failures, this::bind).stream()
        .map(failure -> failure.row().sequence())
        .collect(Collectors.toSet());
  }

  /** Binds what {@link Texts#fail} takes. */
  protected void bind(PreparedBatch batch, Failure failure) {
    batch
        .bind("bucket", failure.row().bucket())
        .bind("seq", failure.row().sequence())
        .bind("id", failure.row().id())
        .bind("availableAt", MessageRows.text(failure.row().availableAt()))
        .bind("attempts", failure.attempts())
        .bind("attemptsAfter", failure.attemptsAfter())
        .bind("status", failure.status().name())
        .bind("error", failure.error());
  }

  @Override
  public final void lower(Handle handle, List<Key> keys) {
    JdbcBatches.forKeys(handle, texts.lower(), keys);
  }
}
