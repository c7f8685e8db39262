package dev.outbox.store.mysql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Status;
import dev.outbox.store.jdbc.internal.ArchiveServer;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import dev.outbox.store.jdbc.internal.Batches;
import dev.outbox.store.jdbc.internal.JsonRows;
import dev.outbox.store.jdbc.internal.Rows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** How MySQL and MariaDB are talked to, and how messages are read and written there. */
final class MysqlDialect extends MysqlServer implements SqlDialect {

  /** The rows of a list in one statement: enough for a batch, few enough for the optimizer. */
  private static final int MOST_ROWS = 1_000;

  /** Which of some buckets have blocked keys. */
  private static final String WITH_BLOCKED_KEYS =
      """
      select b.bucket from ${q}${p}bucket b force index (primary)
      where b.bucket in (${buckets}) and (
        select 1 from ${q}${p}blocked_key k force index (primary)
        where k.bucket = b.bucket limit 1) is not null
      """;

  /** The status that a PENDING or SCHEDULED message must move to, or null. */
  private static final String TARGET = "case ${blocked} when ${orElse} end";

  /** Left out for buckets that have no blocked keys: it makes the read half as slow again. */
  private static final String KEY_BLOCKED =
      """
      when (select 1 from ${q}${p}blocked_key k
        where k.bucket = ${bucket} and k.`key` = ${messageKey}
        limit 1) is not null then 'BLOCKED'
      """;

  /** One bucket's part of a read; ${bucket}, ${most} and ${bytes} are numbers. */
  private static final String READ =
      """
      (select ${read}
      from ${q}${p}message m force index (primary)
      where m.bucket = ${bucket} and ${where}
      order by m.bucket, m.status, m.place, m.seq
      limit ${most})
      """;

  private static final String CONTENT =
      Rows.COLUMNS.replace(
              "m.payload",
              "case when ${target} is null and m.payload_size <= ${bytes} then m.payload end")
          + ", ${target} as target, null as horizon";

  private static final String SIZE =
      "m.bucket, case when ${target} is null then m.payload_size else 0 end as size";

  private static final String READ_PENDING = pending(CONTENT);
  private static final String SIZES_PENDING = pending(SIZE);
  private static final String READ_SCHEDULED = scheduled(CONTENT);
  private static final String SIZES_SCHEDULED = scheduled(SIZE);

  private static String pending(String what) {
    return READ.replace("${read}", what)
        .replace("${where}", "m.status = 'PENDING' and m.place = _binary''")
        .replace("${target}", TARGET)
        .replace("${orElse}", "m.available_at > utc_timestamp(6) then 'SCHEDULED'");
  }

  private static String scheduled(String what) {
    return READ.replace("${read}", what)
        .replace(
            "${where}", "m.status = 'SCHEDULED' and m.place <= cast(utc_timestamp(6) as char(26))")
        .replace("${target}", TARGET)
        .replace("${orElse}", "false then null");
  }

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
      "m.bucket = %d and m.status = 'PENDING' and m.place = _binary'' and m.seq in (%s)";

  /** A default is computed from the values set before it. */
  private static final String FAIL =
      """
      update ${q}${p}message m force index (${p}message_seq) set
        m.status = :status, m.place = default, m.attempts = :attemptsAfter,
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

  private final MysqlText text;
  private final Append append;
  private final BlockedMessages blockedMessages;
  private final Map<Status, String> reads;
  private final Map<Status, String> sizes;
  private final String withBlockedKeys;
  private final String keyBlocked;
  private final String deletePending;

  private final Names names;
  private final Flavor flavor;
  private final Archive kept;
  private final MysqlArchive archive;

  MysqlDialect(Names names, Flavor flavor, Archive kept) {
    super(flavor);
    this.names = names;
    this.flavor = flavor;
    this.kept = kept;
    archive = new MysqlArchive(kept);
    text = new MysqlText(names, flavor);
    append = new Append(text);
    blockedMessages = new BlockedMessages(text);
    reads =
        Map.of(
            Status.PENDING, text.fill(READ_PENDING), Status.SCHEDULED, text.fill(READ_SCHEDULED));
    sizes =
        Map.of(
            Status.PENDING, text.fill(SIZES_PENDING), Status.SCHEDULED, text.fill(SIZES_SCHEDULED));
    withBlockedKeys = text.fill(WITH_BLOCKED_KEYS);
    keyBlocked = text.fill(KEY_BLOCKED);
    deletePending = text.fill(DELETE_PENDING);
  }

  // ---- the server

  @Override
  public String changelog() {
    return "dev/outbox/store/mysql/changelog.sql";
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    return append.append(connection, messages, dedupWindow);
  }

  @Override
  public String fill(String sql) {
    return text.fill(sql);
  }

  @Override
  public Archive archive() {
    return kept;
  }

  @Override
  public ArchiveServer archiveServer() {
    return new MysqlArchiveServer(names.archive(), flavor);
  }

  @Override
  public ArchiveTexts archiveTexts() {
    return archive;
  }

  @Override
  public Leases<Handle> leases() {
    return new MysqlLeases(text, this);
  }

  @Override
  public SqlAdministration.Texts administration() {
    return new MysqlAdministration();
  }

  // ---- reads

  @Override
  public <R> R read(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      long bytes,
      Reader<R> reader) {
    return reader.readAll(read(handle, reads.getOrDefault(status, ""), leases, most, bytes));
  }

  @Override
  public <R> R sizes(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      Reader<R> reader) {
    return reader.readAll(read(handle, sizes.getOrDefault(status, ""), leases, most, 0));
  }

  /**
   * Whether a bucket has blocked keys is asked before, not in the statement that locked it: that
   * one may have begun before the last holder's settle was committed.
   */
  private Query read(
      Handle handle, String sql, List<Lease> leases, ToIntFunction<Lease> most, long bytes) {
    Set<Integer> some =
        Literal.query(
                handle, withBlockedKeys.replace("${buckets}", join(leases, ", ", Lease::bucket)))
            .mapTo(Integer.class)
            .set();
    return Literal.query(
        handle,
        join(
            leases,
            " union all ",
            lease ->
                sql.replace("${blocked}", some.contains(lease.bucket()) ? keyBlocked : "")
                    .replace("${bucket}", Integer.toString(lease.bucket()))
                    .replace("${most}", Integer.toString(most.applyAsInt(lease)))
                    .replace("${bytes}", Long.toString(bytes))));
  }

  private static <T> String join(Collection<T> values, String separator, Function<T, ?> part) {
    return values.stream().map(part).map(String::valueOf).collect(Collectors.joining(separator));
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return blockedMessages.read(handle, leases, limits, new Rows(this)::blocked);
  }

  // ---- writes

  @Override
  public int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more) {
    return forRows(handle, sql, rows, row -> List.of(row.bucket(), row.sequence(), row.id()), more);
  }

  /**
   * @param columns what the statement's list of rows has
   */
  private static <R extends OfMessage> int forRows(
      Handle handle,
      String sql,
      Collection<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more) {
    Predicate<OfMessage> pending = MysqlDialect::isPending;
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
  public String moveToBlocked() {
    return MOVE_TO_BLOCKED;
  }

  @Override
  public String moveToScheduled() {
    return MOVE_TO_SCHEDULED;
  }

  @Override
  public String count() {
    return COUNT;
  }

  @Override
  public String delete() {
    return DELETE;
  }

  @Override
  public int delete(Handle handle, Collection<Claimable> delivered) {
    if (!flavor.obeysHints) {
      return SqlDialect.super.delete(handle, delivered);
    }
    Map<Boolean, List<Claimable>> pending =
        delivered.stream().collect(Collectors.partitioningBy(MysqlDialect::isPending));
    return inParts(pending.getOrDefault(true, List.of()), some -> deletePending(handle, some))
        + forRows(handle, DELETE, pending.getOrDefault(false, List.of()), Map.of());
  }

  private int deletePending(Handle handle, List<Claimable> some) {
    Map<Integer, List<Claimable>> byBucket =
        some.stream().collect(Collectors.groupingBy(Claimable::bucket));
    String these =
        join(
            byBucket.entrySet(),
            ") or (",
            entry ->
                THESE_OF_BUCKET.formatted(
                    entry.getKey(), join(entry.getValue(), ",", Claimable::sequence)));
    return Literal.update(
        handle,
        deletePending
            .replace("${these}", "(" + these + ")")
            .replace("${ids}", join(some, ",", row -> "x'" + hex(row.id().toString()) + "'")));
  }

  @Override
  public int copy(Handle handle, Collection<Claimable> delivered) {
    return forRows(
        handle,
        archive.copy(),
        delivered,
        row ->
            List.of(
                row.bucket(),
                row.sequence(),
                row.id(),
                row.message().attempts(),
                row.answer() == null ? "" : hex(row.answer())),
        Map.of());
  }

  @Override
  public String fail() {
    return FAIL;
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    int[] ignored = Batches.run(handle, BLOCK, blocks, Batches::bind);
  }

  @Override
  public String lower() {
    return LOWER;
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
        key -> List.of(key.bucket(), hex(key.key())));
  }

  /** As the statements take texts in lists. */
  static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(UTF_8));
  }
}
