package dev.outbox.store.jdbc.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Inspection;
import dev.outbox.store.core.internal.KeyCursor;
import dev.outbox.store.jdbc.internal.InspectionTexts.Keys;
import dev.outbox.store.jdbc.internal.InspectionTexts.Range;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jspecify.annotations.Nullable;

/**
 * Looks at messages and keys by statements that have the same form on all databases. Where messages
 * are filtered, it is asked first how far one page may read: what is looked for may be far behind.
 */
public record SqlInspection(InspectionTexts texts, MessageRows rows) implements Inspection<Handle> {
  /** So many times the limit may be read where messages lie in several parts. */
  private static final int MORE = 16;

  // ---- messages

  @Override
  public Page<Listed> messages(Handle handle, InspectionStore.Query query) {
    Map<String, Object> values = new LinkedHashMap<>();
    StringBuilder and = new StringBuilder();
    filter(query, and, values);
    boolean isFiltered = !and.isEmpty();
    Optional<Long> end =
        isFiltered || !texts.isOneRange(query) ? end(handle, query, isFiltered) : Optional.empty();
    end.ifPresent(last -> SqlArchive.add(and, values, texts.upTo(query), "end", last));
    List<Listed> found =
        query(handle, texts.messages(query).replace("${and}", and))
            .bind("key", query.key())
            .bind("after", query.afterSequence())
            .bind("limit", query.limit())
            .bindMap(values)
            .map((row, context) -> listed(row))
            .list();
    boolean isFull = found.size() == query.limit();
    Optional<Long> next = isFull ? Optional.of(found.get(found.size() - 1).sequence()) : end;
    return new Page<>(once(found), next.map(String::valueOf).orElse(null));
  }

  /** One that is read without locks may be seen twice, while it goes from part to part. */
  private static List<Listed> once(List<Listed> found) {
    Map<Long, Listed> bySequence = new LinkedHashMap<>();
    found.forEach(one -> bySequence.put(one.sequence(), one));
    return List.copyOf(bySequence.values());
  }

  private void filter(InspectionStore.Query query, StringBuilder and, Map<String, Object> values) {
    Range range = texts.range(query);
    ArchiveTexts says = texts.says();
    Status status = query.status();
    if (status != null && !range.ofStatus()) { // a literal, as in all statements
      and.append(" and m.status = '").append(status).append('\'');
    }
    SqlArchive.is(says, and, values, "aggregate_type", query.aggregateType());
    SqlArchive.add(and, values, says.key(), "key", range.ofKey() ? null : query.key());
    SqlArchive.is(says, and, values, "event_type", query.eventType());
    SqlArchive.add(
        and, values, "m.id = :id", "id", query.id() == null ? null : says.id(query.id()));
    SqlArchive.is(says, and, values, "dedup_key", query.dedupKey());
    SqlArchive.add(and, values, texts.error(), "error", query.error());
    SqlArchive.add(
        and,
        values,
        "m.created_at < " + says.time("before"),
        "before",
        MessageRows.text(query.appendedBefore()));
  }

  /** Where this page has to end, unless it comes to the end of all. */
  private Optional<Long> end(Handle handle, InspectionStore.Query query, boolean isFiltered) {
    int most = InspectionStore.MOST_READ;
    int read = isFiltered ? most : Math.min(most, MORE * Math.min(most, query.limit()));
    return query(handle, texts.end(query))
        .bind("key", query.key())
        .bind("after", query.afterSequence())
        .bind("limit", read)
        .bind("skipped", read / 2 / Database.BUCKETS) // read now, and again for the page
        .mapTo(Long.class)
        .findOne();
  }

  private Listed listed(ResultSet row) throws SQLException {
    return new Listed(
        row.getLong("seq"),
        String.valueOf(row.getObject("id")),
        Status.valueOf(row.getString("status")),
        OutboxMessage.key(
            row.getString("aggregate_type"),
            row.getString("aggregate_id"),
            row.getString("partition_key")),
        row.getString("aggregate_type"),
        row.getString("event_type"),
        row.getString("dedup_key"),
        row.getInt("attempts"),
        requireNonNull(time(row, "created_at")),
        time(row, "available_at"),
        time(row, "expires_at"),
        row.getString("last_error"),
        time(row, "last_failed_at"),
        row.getInt("halts_key") == 1);
  }

  private @Nullable Instant time(ResultSet row, String column) throws SQLException {
    Instant time = rows.instant(row, row.findColumn(column));
    return time == null ? null : MessageRows.clamp(time);
  }

  private record Found(int bucket, Listed listed, StoredMessage message) {}

  @Override
  public Optional<Inspected> message(Handle handle, long sequence) {
    return handle
        .createQuery(texts.message())
        .bind("seq", sequence)
        .map((row, context) -> new Found(row.getInt("bucket"), listed(row), rows.message(row)))
        .findFirst()
        .map(found -> Inspected.of(found.listed(), found.message(), key(handle, found)));
  }

  /** The key of a message. */
  private @Nullable WaitingKey key(Handle handle, Found found) {
    KeyCursor one = new KeyCursor(found.bucket(), 0, found.listed().key());
    return keys(handle, Keys.ONE, one, 1).stream()
        .map(Looked::waiting)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  // ---- keys

  /**
   * A key's row.
   *
   * @param waiting null: no message of it is BLOCKED
   */
  private record Looked(KeyCursor cursor, @Nullable WaitingKey waiting) {}

  @Override
  public Page<WaitingKey> waitingKeys(
      Handle handle, boolean halted, @Nullable String after, int limit) {
    List<Looked> looked = keys(handle, halted ? Keys.HALTED : Keys.ALL, KeyCursor.of(after), limit);
    boolean isFull = looked.size() == limit;
    return new Page<>(
        looked.stream().map(Looked::waiting).filter(Objects::nonNull).toList(),
        isFull ? looked.get(limit - 1).cursor().toString() : null);
  }

  private List<Looked> keys(Handle handle, Keys which, KeyCursor after, int limit) {
    return query(handle, texts.keys(which))
        .bind("bucket", after.bucket())
        .bind("behind", after.behind())
        .bind("key", after.key())
        .bind("limit", limit)
        .bind("most", InspectionStore.MOST_BEHIND + 1)
        .map((row, context) -> looked(row))
        .list();
  }

  /** A statement that may not take all that is bound. */
  private static Query query(Handle handle, String text) {
    return handle
        .createQuery(text)
        .configure(SqlStatements.class, config -> config.setUnusedBindingAllowed(true));
  }

  private Looked looked(ResultSet row) throws SQLException {
    long haltedBy = row.getLong("halted_by");
    boolean halted = !row.wasNull();
    long behind = halted ? haltedBy : row.getLong("head");
    boolean isEmpty = row.wasNull();
    String key = row.getString("key");
    int others = row.getInt("waiting") - (halted ? 0 : 1); // the head is among them
    return new Looked(
        new KeyCursor(row.getInt("bucket"), behind, key),
        isEmpty
            ? null
            : new WaitingKey(
                key,
                behind,
                halted,
                halted ? null : time(row, "retry_at"),
                Math.min(InspectionStore.MOST_BEHIND, others),
                row.getInt("attempts"),
                row.getString("last_error")));
  }
}
