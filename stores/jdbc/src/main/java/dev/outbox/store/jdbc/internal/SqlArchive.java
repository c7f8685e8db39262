package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Administration.Noted;
import dev.outbox.store.core.internal.Database.Key;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/** What is asked of an archive and of the audit beside it. */
abstract class SqlArchive implements Administration<Handle> {

  /** Behind the columns of a message. */
  private static final int WHOLE = MessageRows.COUNT + 1;

  private static final int ARCHIVED_AT = WHOLE + 1;
  private static final int OUTCOME = WHOLE + 2;
  private static final int ANSWER = WHOLE + 3;
  private static final int ERROR = WHOLE + 4;

  private final ArchiveTexts texts;
  final MessageRows rows;

  SqlArchive(ArchiveTexts texts, MessageRows rows) {
    this.texts = texts;
    this.rows = rows;
  }

  // ---- looking

  @Override
  public final List<Archived> archived(Handle handle, Search search, int limit) {
    Map<String, Object> values = new LinkedHashMap<>();
    StringBuilder and = new StringBuilder();
    add(and, values, texts.key(), "key", search.key());
    is(texts, and, values, "aggregate_type", search.aggregateType());
    is(texts, and, values, "aggregate_id", search.aggregateId());
    is(texts, and, values, "event_type", search.eventType());
    add(and, values, "m.id = :id", "id", search.id() == null ? null : texts.id(search.id()));
    Outcome outcome = search.outcome();
    add(and, values, "m.outcome = :outcome", "outcome", outcome == null ? null : outcome.name());
    if (search.after() != null) {
      add(and, values, texts.after(), "afterTime", MessageRows.text(search.after().at()));
      values.put("afterSeq", search.after().sequence());
    }
    return handle
        .createQuery(texts.archived().replace("${and}", and))
        .bind("from", MessageRows.text(search.from()))
        .bind("to", MessageRows.text(search.to()))
        .bind("limit", limit)
        .bindMap(values)
        .map((row, context) -> archived(row))
        .list();
  }

  /** Adds a condition on a column of texts. */
  static void is(
      ArchiveTexts says,
      StringBuilder and,
      Map<String, Object> values,
      String column,
      @Nullable String value) {
    add(and, values, says.is("m." + column, column), column, value);
  }

  static void add(
      StringBuilder and,
      Map<String, Object> values,
      String condition,
      String name,
      @Nullable Object value) {
    if (value != null) {
      and.append(" and ").append(condition);
      values.put(name, value);
    }
  }

  private Archived archived(ResultSet row) throws SQLException {
    return new Archived(
        rows.message(row),
        row.getInt(WHOLE) == 1,
        requireNonNull(rows.instant(row, ARCHIVED_AT)),
        Outcome.valueOf(row.getString(OUTCOME)),
        row.getString(ANSWER),
        row.getString(ERROR));
  }

  @Override
  public final List<Entry> audit(Handle handle, Instant from, int limit) {
    return handle
        .createQuery(texts.audit())
        .bind("from", MessageRows.text(from))
        .bind("limit", limit)
        .map(
            (row, context) ->
                new Entry(
                    rows.instant(row, "noted_at"),
                    Action.valueOf(row.getString("action")),
                    row.getString("who"),
                    row.getString("reason"),
                    row.getLong("seq"),
                    row.getString("message_id")))
        .list();
  }

  // ---- writing

  /** Before the dead letters, which are locked, are removed. */
  final void archive(Handle handle, List<Key> dead, Outcome outcome) {
    if (texts.keepsArchive()) {
      int[] copied =
          JdbcBatches.run(
              handle,
              texts.archiveDeadLetter(),
              dead,
              (batch, letter) ->
                  batch
                      .bind("bucket", letter.bucket())
                      .bind("seq", letter.sequence())
                      .bind("outcome", outcome.name()));
      ArchiveTexts.requireSame(Arrays.stream(copied).sum(), dead.size());
    }
  }

  /** While the dead letters, which are locked, are there. */
  final void note(Handle handle, List<Key> dead, Action action, Who by) {
    int[] ignored =
        JdbcBatches.run(
            handle,
            texts.noteDeadLetter(),
            dead,
            (batch, letter) ->
                batch
                    .bind("action", action.name())
                    .bind("who", by.name())
                    .bind("reason", by.reason())
                    .bind("bucket", letter.bucket())
                    .bind("seq", letter.sequence()));
  }

  @Override
  public final void note(Handle handle, Action action, Who by, List<Noted> about) {
    int[] ignored =
        JdbcBatches.run(
            handle,
            texts.note(),
            about,
            (batch, one) ->
                batch
                    .bind("action", action.name())
                    .bind("who", by.name())
                    .bind("reason", by.reason())
                    .bind("seq", one.sequence())
                    .bind("id", one.id()));
  }
}
