package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
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
import dev.outbox.store.jdbc.internal.Placed;
import dev.outbox.store.jdbc.internal.Rows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.argument.Argument;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jspecify.annotations.Nullable;

/** How messages are read and written on SQL Server. */
final class SqlServerDialect extends SqlServerServer implements SqlDialect {

  /** DATEADD has room for 68 years of seconds, and no dedup key is older. */
  private static final Duration MAX_WINDOW = Duration.ofDays(60 * 365);

  /** The sequences of each bucket's first PENDING messages; see {@link TwoReads}. */
  private static final String FIRST_PENDING =
      """
      select m.seq
      from openjson(:buckets) with (bucket int '$[0]', most int '$[1]') l
      cross apply (
        select top (l.most) m.seq
        from ${q}${p}message m ${seekPast}
        where m.bucket = l.bucket and m.status = N'PENDING' and m.place = 0x00
        order by m.seq
      ) m
      """;

  /**
   * Reads the first messages of each bucket that {@code where} finds. A message moves to BLOCKED
   * when its key is blocked, or else as {@code orElse} says; whether a bucket has blocked keys at
   * all is asked once a bucket.
   *
   * <p>TOP may name columns of an outer query. Messages are not sorted: the order in which each
   * bucket's first are chosen is an index's, and a sort sets memory aside for the largest payloads
   * that there might be. {@link Placed} puts them in order.
   */
  private static final String READ =
      """
      select ${columns}
      from (
        select o.*, case when exists (select 1 from ${q}${p}blocked_key k ${dirtyKey}
          where k.bucket = o.bucket) then 1 else 0 end as any_blocked
        from openjson(:buckets) with (bucket int '$[0]', most int '$[1]') o
      ) l
      cross apply (
        select top (l.most) ${content},
          case when l.any_blocked = 1 and exists (select 1 from ${q}${p}blocked_key k ${dirtyKey}
            where k.bucket = m.bucket and k.key_hash = m.key_hash) then N'BLOCKED' ${orElse}
          end as target
        from ${q}${p}message m ${hints}
        where ${where}
        order by ${order}
      ) m
      """
          .replace("${content}", Rows.COLUMNS);

  private static final String SORTED = "order by l.bucket, ${order}\n";

  private static final String CONTENT =
      Rows.COLUMNS.replace(
              "m.payload",
              "case when m.target is null and datalength(m.payload) <= :bytes then m.payload end as payload")
          + ", m.target, convert(bigint, 0) as horizon";

  private static final String SIZE =
      "m.bucket, case when m.target is null then datalength(m.payload) else 0 end as size";

  private static final String READ_PENDING = pending(READ, CONTENT);
  private static final String SIZES_PENDING = pending(READ + SORTED, SIZE);
  private static final String READ_SCHEDULED = scheduled(READ, CONTENT);
  private static final String SIZES_SCHEDULED = scheduled(READ + SORTED, SIZE);

  private static String pending(String read, String columns) {
    return read.replace("${columns}", columns)
        .replace("${orElse}", "when m.available_at > ${utc} then N'SCHEDULED'")
        .replace("${hints}", "${seekPast}")
        .replace("${where}", "m.bucket = l.bucket and m.status = N'PENDING' and m.place = 0x00")
        .replace("${order}", "m.seq");
  }

  private static String scheduled(String read, String columns) {
    return read.replace("${columns}", columns)
        .replace("${orElse}", "")
        .replace("${hints}", "${scheduledPast}")
        .replace(
            "${where}",
            """
            m.bucket = l.bucket and m.status = N'SCHEDULED' and m.available_at <= ${utc}
            """)
        .replace("${order}", "m.available_at, m.seq");
  }

  /**
   * The head is read first by itself: whether it failed before says how many come with it. A key
   * that an operator is just letting go is skipped, and with it the message that he requeues.
   * Nobody else but the holder of the bucket writes BLOCKED rows.
   *
   * <p>The turns and the bytes before each message take a sort, so that is done with sizes only,
   * and the messages are looked up for those that have room. The optimizer does not know how many
   * there are and would multiply guesses: MAX_GRANT_PERCENT is "the maximum memory grant size".
   */
  private static final String READ_BLOCKED =
      """
      select ${columns}, d.bucket as due_bucket, d.message_key as due_key,
        d.low_seq as due_low_seq, d.turn
      from (
        select d.bucket, d.message_key, d.low_seq, d.key_hash, m.seq,
          row_number() over (partition by d.bucket order by d.retry_at, d.key_hash, m.seq) as turn,
          sum(coalesce(m.size, 0))
            over (partition by d.bucket order by d.retry_at, d.key_hash, m.seq rows unbounded preceding)
            - coalesce(m.size, 0) as bytes_before
        from openjson(:buckets)
          with (bucket int '$[0]', most int '$[1]') l
        cross apply (
          select k.*, count(*) over () as due
          from (
            select top (l.most) k.bucket, k.message_key, k.key_hash, k.low_seq, k.retry_at
            from ${q}${p}blocked_key k ${past}
            where k.bucket = l.bucket and k.halted_by is null and k.retry_at <= ${utc}
            order by k.retry_at
          ) k
        ) d
        outer apply (
          select top (1) m.seq, case when m.last_failed_at is null then 0 else 1 end as failed
          from ${q}${p}message m ${seekNow}
          where m.bucket = d.bucket and m.status = N'BLOCKED' and m.place = d.key_hash
            and m.seq >= d.low_seq
          order by m.seq
        ) head
        outer apply (
          select top (case when head.failed = 1 or l.most < d.due then 1 else l.most / d.due end)
            m.seq, datalength(m.payload) as size
          from ${q}${p}message m ${seekNow}
          where m.bucket = d.bucket and m.status = N'BLOCKED' and m.place = d.key_hash
            and m.seq >= head.seq
          order by m.seq
        ) m
      ) d
      outer apply (
        select ${columns}
        from ${q}${p}message m ${seekNow}
        where m.bucket = d.bucket and m.status = N'BLOCKED' and m.place = d.key_hash
          and m.seq = d.seq
      ) m
      where d.bytes_before < :bytes
      option (max_grant_percent = 1)
      """
          .replace("${columns}", Rows.COLUMNS);

  /**
   * Statements for messages of one status and place. Each is found by a seek with the whole
   * clustered key, or else its statement would lock, to look at them, rows that it does not change,
   * and wait for producers that have not committed theirs. FORCESEEK "can be specified [...] in the
   * FROM clause of an UPDATE or DELETE statement"; the list comes first (FORCE ORDER), each of its
   * rows is looked up by itself (LOOP JOIN), and because the bucket, with which the key begins, is
   * known from the list only, nothing can be looked up without it. What must be true of a row is
   * asked of the row that is changed.
   */
  private static final String THESE =
      """
        from openjson(:messages)
          with (bucket int '$[0]', seq bigint '$[1]', id uniqueidentifier '$[2]') l
        inner join ${q}${p}message m with (forceseek) on m.bucket = l.bucket and m.seq = l.seq
        where m.status = :was and m.place = :place and m.id = l.id ${and}
        option (loop join, force order)
        """;

  private static final String MOVE_TO_BLOCKED =
      "update m set status = N'BLOCKED' "
          + THESE.replace("${and}", "and m.status in (N'PENDING', N'SCHEDULED')");

  private static final String MOVE_TO_SCHEDULED =
      "update m set status = N'SCHEDULED' " + THESE.replace("${and}", "and m.status = N'PENDING'");

  private static final String COUNT =
      """
      update m set attempts = case
        when :by < 0 and m.attempts = 0 then 0
        when :by > 0 and m.attempts = 2147483647 then m.attempts
        else m.attempts + :by end
      """
          + THESE.replace("${and}", "and m.status <> N'DEAD'");

  private static final String DELETE = "delete m " + THESE.replace("${and}", "");

  private static final String FAIL =
      """
      update ${q}${p}message set
        status = :status, attempts = :attemptsAfter, last_error = :error,
        last_failed_at = sysutcdatetime()
      where bucket = :bucket and status = :was and place = :place and seq = :seq
        and id = :id and attempts = :attempts and status <> N'DEAD'
        and (available_at = convert(datetime2(6), :availableAt, 126)
          or available_at is null and :availableAt is null)
      """;

  private static final String BLOCK =
      """
      update ${q}${p}blocked_key set
        retry_at = ${later},
        halted_by = case when :halted = 1 then :seq else halted_by end,
        low_seq = case when low_seq < :lowSeq then low_seq else :lowSeq end
      where bucket = :bucket and key_hash = ${key}
      """
          .replace("${later}", SqlServerText.later(":delayMillis"));

  private static final String INSERT_BLOCKED =
      """
      insert into ${q}${p}blocked_key (bucket, message_key, retry_at, halted_by, low_seq)
      values (:bucket, :key, ${later}, case when :halted = 1 then :seq end, :lowSeq)
      """
          .replace("${later}", SqlServerText.later(":delayMillis"));

  private static final String LOWER =
      """
      update ${q}${p}blocked_key set low_seq = :seq
      where bucket = :bucket and key_hash = ${key} and low_seq > :seq
      """;

  private static final String WAITING =
      """
        ${q}${p}message m ${seekNow}
        where m.bucket = k.bucket and m.status = N'BLOCKED' and m.place = k.key_hash
          and m.seq >= k.low_seq
        """;

  private static final String ADVANCE =
      """
      update k set
        retry_at = sysutcdatetime(),
        low_seq = coalesce((select min(m.seq) from ${waiting}), k.low_seq)
      from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
      """
          .replace("${waiting}", WAITING);

  private static final String FREE =
      """
      delete k from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key_hash = ${key} and k.halted_by is null
        and not exists (select 1 from ${waiting})
      """
          .replace("${waiting}", WAITING);

  private final Append append;
  private final Names names;
  private final Archive kept;
  private final SqlServerArchive archive;

  /** Without an archive. */
  SqlServerDialect(Names names) {
    this(names, Archive.NONE);
  }

  SqlServerDialect(Names names, Archive kept) {
    super(names, "message", "blocked_key", "bucket", "dedup");
    this.names = names;
    this.kept = kept;
    append = new Append(this);
    archive = new SqlServerArchive(kept);
  }

  @Override
  public Archive archive() {
    return kept;
  }

  @Override
  public ArchiveServer archiveServer() {
    return new SqlServerArchiveServer(names.archive());
  }

  @Override
  public ArchiveTexts archiveTexts() {
    return archive;
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/sqlserver/changelog.sql";
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    return append.append(connection, messages, clamped(dedupWindow));
  }

  static Duration clamped(Duration window) {
    return window.compareTo(MAX_WINDOW) > 0 ? MAX_WINDOW : window;
  }

  @Override
  public Leases<Handle> leases() {
    return new SqlServerLeases(this);
  }

  @Override
  public SqlAdministration.Texts administration() {
    return new SqlServerAdministration();
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
    String sql = status == Status.PENDING ? READ_PENDING : READ_SCHEDULED;
    return reader.readAll(
        handle.createQuery(sql).bind("buckets", buckets(leases, most)).bind("bytes", bytes));
  }

  @Override
  public <R> R sizes(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      Reader<R> reader) {
    String sql = status == Status.PENDING ? SIZES_PENDING : SIZES_SCHEDULED;
    return reader.readAll(handle.createQuery(sql).bind("buckets", buckets(leases, most)));
  }

  private static Argument buckets(List<Lease> leases, ToIntFunction<Lease> most) {
    return list(leases, lease -> List.of(lease.bucket(), most.applyAsInt(lease)));
  }

  /** As the type that OPENJSON takes, whatever the length: else each change is prepared anew. */
  private static <T> Argument list(Collection<T> rows, Function<T, List<?>> columns) {
    String json = JsonRows.of(rows, columns);
    return (position, statement, context) ->
        statement.setObject(position, json, Types.LONGNVARCHAR);
  }

  private static ToIntFunction<Lease> most(Limits limits) {
    return lease -> lease.single() ? 1 : limits.messages();
  }

  @Override
  public List<Row> readPending(
      Handle handle, List<Lease> leases, Limits limits, Supplier<List<Row>> read) {
    Set<Long> first =
        handle
            .createQuery(FIRST_PENDING)
            .bind("buckets", buckets(leases, most(limits)))
            .map((row, context) -> row.getLong("seq"))
            .collect(Collectors.toSet());
    return first.isEmpty() ? List.of() : TwoReads.together(first, read.get());
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    Rows rows = new Rows(this);
    return Placed.inOrder(
        handle
            .createQuery(READ_BLOCKED)
            .bind("buckets", buckets(leases, most(limits)))
            .bind("bytes", limits.bytes())
            .map((row, context) -> new Placed(rows.blocked(row), null, row.getLong("turn")))
            .list());
  }

  // ---- writes

  /**
   * Where in its bucket a row stands.
   *
   * @param key of BLOCKED messages
   */
  private record Place(Status status, @Nullable String key) {
    static Place of(OfMessage row) {
      return new Place(row.status(), row.status() == Status.BLOCKED ? row.key() : null);
    }

    byte[] bytes() {
      return key == null ? new byte[1] : Hash.of(key);
    }
  }

  /** One statement a place, in one batch. */
  @Override
  public int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more) {
    return forRows(handle, sql, rows, row -> List.of(row.bucket(), row.sequence(), row.id()), more);
  }

  /**
   * @param columns what the statement's list of messages has
   */
  private static <R extends OfMessage> int forRows(
      Handle handle,
      String sql,
      Collection<R> rows,
      Function<R, List<?>> columns,
      Map<String, ?> more) {
    Map<Place, List<R>> places =
        rows.stream()
            .collect(Collectors.groupingBy(Place::of, LinkedHashMap::new, Collectors.toList()));
    int[] changed =
        Batches.run(
            handle,
            sql,
            places.entrySet(),
            (batch, place) ->
                batch
                    .bind("was", place.getKey().status().name())
                    .bind("place", place.getKey().bytes())
                    .bind("messages", list(place.getValue(), columns))
                    .bindMap(more));
    return Arrays.stream(changed).sum();
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
                row.answer() == null ? "" : row.answer()),
        Map.of());
  }

  @Override
  public PreparedBatch bindMore(PreparedBatch batch, Failure failure) {
    return batch
        .bind("was", failure.row().status().name())
        .bind("place", Place.of(failure.row()).bytes());
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
  public String fail() {
    return FAIL;
  }

  @Override
  public String lower() {
    return LOWER;
  }

  /** Only the holder of the bucket adds keys, so what was not there to change can be inserted. */
  @Override
  public void block(Handle handle, List<Block> blocks) {
    List<Block> added = new ArrayList<>(blocks);
    added.removeAll(Batches.changed(handle, BLOCK, blocks, Batches::bind));
    int[] ignored = Batches.run(handle, INSERT_BLOCKED, added, Batches::bind);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    Batches.forKeys(handle, FREE, keys);
    Batches.forKeys(handle, ADVANCE, keys);
  }
}
