package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.PlacedRow;
import dev.outbox.store.jdbc.internal.SqlReads;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** Reads messages. */
final class SqlServerReads extends SqlReads {

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
   * when its key is blocked, unless {@code first} says something else; whether a bucket has blocked
   * keys at all is asked once a bucket.
   *
   * <p>TOP may name columns of an outer query. Messages are not sorted: the order in which each
   * bucket's first are chosen is an index's, and a sort sets memory aside for the largest payloads
   * that there might be. {@link PlacedRow} puts them in order.
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
          case ${first} when l.any_blocked = 1
            and exists (select 1 from ${q}${p}blocked_key k ${dirtyKey}
              where k.bucket = m.bucket and k.key_hash = m.key_hash) then N'BLOCKED'
          end as target
        from ${q}${p}message m ${hints}
        where ${where}
        order by ${order}
      ) m
      """
          .replace("${content}", MessageRows.COLUMNS);

  private static final String SORTED = "order by l.bucket, ${order}\n";

  private static final String CONTENT =
      MessageRows.COLUMNS.replace(
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
        .replace("${first}", "when m.available_at > ${utc} then N'SCHEDULED'")
        .replace("${hints}", "${seekPast}")
        .replace("${where}", "m.bucket = l.bucket and m.status = N'PENDING' and m.place = 0x00")
        .replace("${order}", "m.seq");
  }

  private static String scheduled(String read, String columns) {
    return read.replace("${columns}", columns)
        .replace("${first}", "")
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
          .replace("${columns}", MessageRows.COLUMNS);

  SqlServerReads(MessageRows rows) {
    super(rows);
  }

  @Override
  protected <R> R select(Handle handle, Wanted wanted, long bytes, Reader<R> reader) {
    String sql = wanted.status() == Status.PENDING ? READ_PENDING : READ_SCHEDULED;
    return reader.readAll(ask(handle, sql, wanted.leases(), wanted.most()).bind("bytes", bytes));
  }

  @Override
  protected <R> R sizes(Handle handle, Wanted wanted, Reader<R> reader) {
    String sql = wanted.status() == Status.PENDING ? SIZES_PENDING : SIZES_SCHEDULED;
    return reader.readAll(ask(handle, sql, wanted.leases(), wanted.most()));
  }

  private static Query ask(
      Handle handle, String sql, List<Lease> leases, ToIntFunction<Lease> most) {
    return handle
        .createQuery(sql)
        .bind(
            "buckets",
            SqlServerText.list(leases, lease -> List.of(lease.bucket(), most.applyAsInt(lease))));
  }

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    Set<Long> first =
        ask(handle, FIRST_PENDING, leases, most(limits))
            .map((row, context) -> row.getLong("seq"))
            .collect(Collectors.toSet());
    return new Pending(
        first.isEmpty()
            ? List.of()
            : TwoReads.together(first, super.readPending(handle, leases, limits).rows()),
        leases);
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return PlacedRow.inOrder(
        ask(handle, READ_BLOCKED, leases, most(limits))
            .bind("bytes", limits.bytes())
            .map((row, context) -> new PlacedRow(rows.blocked(row), null, row.getLong("turn")))
            .list());
  }
}
