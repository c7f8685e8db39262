package dev.outbox.store.mysql;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.jdbc.internal.JdbcBatches;
import dev.outbox.store.jdbc.internal.JsonRows;
import dev.outbox.store.jdbc.internal.ListWrites;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;

/** Writes messages. */
final class MysqlWrites extends ListWrites {
  /** The rows of a list in one statement: enough for a batch, few enough for the optimizer. */
  private static final int MOST_ROWS = 1_000;

  private static final String MOVE_TO_BLOCKED =
      """
      update ${rows} set m.status = 'BLOCKED', m.place = ${messageKey}
      where m.status in ('PENDING', 'SCHEDULED')
      """;

  private static final String MOVE_TO_SCHEDULED =
      """
      update ${rows} set m.status = 'SCHEDULED', m.place = cast(m.available_at as char(26))
      where m.status = 'PENDING'
      """;

  private static final String COUNT =
      """
      update ${rows} set m.attempts = greatest(0, least(m.attempts, 2147483646) + :by)
      where m.status in ('PENDING', 'SCHEDULED', 'BLOCKED')
      """;

  private static final String DELETE = "delete m from ${rows}";

  /**
   * Deletes as it reads, where a joined list is read to its end first and each row looked up again.
   * Without the hint a list as long as a small table is planned as a scan; a FORCE INDEX is obeyed
   * by a SELECT only.
   */
  private static final String DELETE_PENDING =
      "delete /*+ index(m primary) */ from ${q}${p}message m where (${these}) and m.id in (${ids})";

  private static final String THESE_OF_BUCKET =
      "m.bucket = %s and m.status = 'PENDING' and m.place = _binary'' and m.seq in (%s)";

  /** In words: a sql_mode of MariaDB computes a default from the values before all of these. */
  private static final String FAIL =
      """
      update ${q}${p}message m force index (${p}message_seq) set
        m.status = :status, m.place = if(:status = 'BLOCKED', ${messageKey}, ''),
        m.attempts = :attemptsAfter,
        m.last_error = :error, m.last_failed_at = utc_timestamp(6)
      where m.seq = :seq and m.bucket = :bucket and m.id = :id and m.attempts = :attempts
        and m.available_at <=> cast(:availableAt as datetime(6))
        and m.status in ('PENDING', 'SCHEDULED', 'BLOCKED')
      """;

  private static final String BLOCK =
      """
      insert into ${q}${p}blocked_key (bucket, `key`, retry_at, halted_by, low_seq)
      values (:bucket, :key, utc_timestamp(6) + interval :delayMillis * 1000 microsecond,
        if(:halted, :seq, null), :lowSeq)
      on duplicate key update
        retry_at = values(retry_at),
        halted_by = coalesce(values(halted_by), halted_by),
        low_seq = least(low_seq, values(low_seq))
      """;

  private static final String LOWER =
      "update ${q}${p}blocked_key set low_seq = :seq"
          + " where bucket = :bucket and `key` = :key and low_seq > :seq";

  /** The keys that have no BLOCKED message any more. */
  private static final String EMPTY_KEYS =
      """
      select k.bucket, k.`key` as name from ${keys}
      where k.halted_by is null and (select m.seq ${blockedOfKey}) is null
      """;

  private static final String FREE = "delete k from ${keys} where k.halted_by is null";

  private static final String ADVANCE =
      """
      update ${keys} set
        k.retry_at = utc_timestamp(6), k.low_seq = coalesce((select m.seq ${blockedOfKey}), k.low_seq)
      where k.halted_by is null
      """;

  private final boolean obeysHints;
  private final String deletePending;

  MysqlWrites(MysqlText text, Flavor flavor, MysqlArchive archive) {
    super(
        new Texts(MOVE_TO_BLOCKED, MOVE_TO_SCHEDULED, COUNT, FAIL, LOWER),
        DELETE,
        archive.copy(),
        archive.keepsArchive());
    obeysHints = flavor.obeysHints;
    deletePending = text.fill(DELETE_PENDING);
  }

  @Override
  protected <R extends OfMessage> int forRows(
      Handle handle,
      String sql,
      Collection<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more) {
    Predicate<OfMessage> pending = MysqlWrites::isPending;
    return execute(handle, sql, rows.stream().filter(pending).toList(), columns, more)
        + execute(
            handle,
            sql.replace("${rows}", "${otherRows}")
                .replace("${archivedRows}", "${otherArchivedRows}"),
            rows.stream().filter(pending.negate()).toList(),
            columns,
            more);
  }

  private static <R extends OfMessage> int execute(
      Handle handle,
      String statement,
      List<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more) {
    return inParts(
        rows,
        some ->
            handle
                .createUpdate(statement)
                .bind("rows", JsonRows.of(some, columns))
                .bindMap(more)
                .execute());
  }

  private static boolean isPending(OfMessage row) {
    return row.status() == Status.PENDING;
  }

  /** Adds up what a statement says of so many rows at a time. */
  private static <R> int inParts(List<R> rows, ToIntFunction<List<R>> statement) {
    return IntStream.iterate(0, from -> from < rows.size(), from -> from + MOST_ROWS)
        .mapToObj(from -> rows.subList(from, Math.min(rows.size(), from + MOST_ROWS)))
        .mapToInt(statement)
        .sum();
  }

  @Override
  protected int delete(Handle handle, Collection<Claimable> delivered) {
    if (!obeysHints) {
      return super.delete(handle, delivered);
    }
    Map<Boolean, List<Claimable>> pending =
        delivered.stream().collect(Collectors.partitioningBy(MysqlWrites::isPending));
    return inParts(pending.getOrDefault(true, List.of()), some -> deletePending(handle, some))
        + forRows(handle, DELETE, pending.getOrDefault(false, List.of()), Map.of());
  }

  private int deletePending(Handle handle, List<Claimable> some) {
    Map<Integer, List<Claimable>> byBucket =
        some.stream().collect(Collectors.groupingBy(Claimable::bucket));
    String these =
        MysqlText.join(
            byBucket.entrySet(),
            ") or (",
            entry ->
                THESE_OF_BUCKET.formatted(
                    entry.getKey(), MysqlText.join(entry.getValue(), ",", Claimable::sequence)));
    return UnparsedSql.update(
        handle,
        deletePending
            .replace("${these}", "(" + these + ")")
            .replace(
                "${ids}",
                MysqlText.join(some, ",", row -> "x'" + MysqlText.hex(row.id().toString()) + "'")));
  }

  @Override
  protected String answer(String text) {
    return MysqlText.hex(text);
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    int[] ignored = JdbcBatches.run(handle, BLOCK, blocks, JdbcBatches::bind);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    List<Key> empty =
        handle
            .createQuery(EMPTY_KEYS)
            .bind("rows", rows(keys))
            .map((row, context) -> new Key(row.getInt("bucket"), row.getString("name"), 0))
            .list();
    if (!empty.isEmpty()) {
      handle.createUpdate(FREE).bind("rows", rows(empty)).execute();
    }
    if (empty.size() < keys.size()) {
      handle.createUpdate(ADVANCE).bind("rows", rows(keys)).execute();
    }
  }

  private static String rows(Collection<Key> keys) {
    return JsonRows.of(
        keys.stream().sorted(Comparator.comparing(Key::bucket).thenComparing(Key::key)).toList(),
        key -> List.of(key.bucket(), MysqlText.hex(key.key())));
  }
}
