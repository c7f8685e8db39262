package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/** For databases that take messages as a list in JSON. An archive's copy is made by such a list. */
public abstract class ListWrites extends SqlWrites {
  private final String delete;
  private final String copy;

  /**
   * @param delete for {@link #forRows}
   * @param copy the same, with attempts and answer in the list: copies messages into the archive
   */
  protected ListWrites(Texts texts, String delete, String copy, boolean archives) {
    super(texts, archives);
    this.delete = delete;
    this.copy = copy;
  }

  /**
   * Runs a statement for messages.
   *
   * @param columns what its list of them has
   * @return how many rows it changed
   */
  protected abstract <R extends OfMessage> int forRows(
      Handle handle,
      String sql,
      Collection<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more);

  @Override
  protected final int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more) {
    return forRows(handle, sql, rows, row -> List.of(row.bucket(), row.sequence(), row.id()), more);
  }

  /** How the list has a broker's answer. */
  protected String answer(String text) {
    return text;
  }

  @Override
  public final List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    int copied = archives() ? copy(handle, delivered) : 0;
    int deleted = delete(handle, delivered);
    if (archives()) {
      ArchiveTexts.requireSame(copied, deleted);
    }
    return List.copyOf(leases);
  }

  private int copy(Handle handle, Collection<Claimable> delivered) {
    return forRows(
        handle,
        copy,
        delivered,
        row ->
            List.of(
                row.bucket(),
                row.sequence(),
                row.id(),
                row.message().attempts(),
                row.answer() == null ? "" : answer(row.answer())),
        Map.of());
  }

  /**
   * Deletes messages with these buckets, sequences and ids.
   *
   * @return how many it found
   */
  protected int delete(Handle handle, Collection<Claimable> delivered) {
    return forRows(handle, delete, delivered, Map.of());
  }
}
