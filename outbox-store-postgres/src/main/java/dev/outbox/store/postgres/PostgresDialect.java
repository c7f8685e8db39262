package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.Alone;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Look;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Status;
import dev.outbox.store.jdbc.internal.ArchiveServer;
import dev.outbox.store.jdbc.internal.ArchiveTexts;
import dev.outbox.store.jdbc.internal.Batches;
import dev.outbox.store.jdbc.internal.Rows;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.postgres.Certified.Sample;
import dev.outbox.store.postgres.Certified.Snapshot;
import dev.outbox.store.postgres.Hot.Parameters;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;

/**
 * How PostgreSQL is talked to, and how messages are read and written there.
 *
 * <p>A status is always a literal: with a parameter a generic plan could not use the partial
 * indexes. Whether there is something is asked by a scalar subquery in the order of the index that
 * is meant: a correlated EXISTS may be planned as one hash of all that is due, and without the
 * order another index looks as good as a partial one while the table is small. A read in order says
 * {@code seq + 0}, as the partial indexes do: the primary key, which has {@code seq} alone, is then
 * for finding rows by their number and for nothing else. Time is {@code statement_timestamp()}:
 * {@code now()} is the transaction's start, and {@code clock_timestamp()} cannot be an index
 * condition.
 */
final class PostgresDialect extends PostgresServer implements SqlDialect {
  /** As the index of BLOCKED messages has it. */
  private static final String MESSAGE_KEY =
      "coalesce(m.partition_key, m.aggregate_type || '/' || m.aggregate_id)";

  /** This transaction is no producer: its own id, where it has one, does not hold the horizon. */
  private static final String HORIZON =
      """
      pg_snapshot_xmin(pg_current_snapshot())::text::bigint + coalesce(
        (pg_snapshot_xmin(pg_current_snapshot()) = pg_current_xact_id_if_assigned())::int, 0)
      """;

  /**
   * Reads the first messages of each bucket that {@code where} finds, in order. A message moves to
   * BLOCKED when its key is blocked, or else as {@code orElse} says; the content of those that are
   * only to be moved is not read: it may be large, and is not needed. A bucket without any is a row
   * without sequence, so that there is always a row that says what the snapshot's horizon is. That,
   * and whether a bucket has blocked keys at all, is asked once a bucket (OFFSET 0 sees to it), and
   * the latter not in the lease: that statement's snapshot may be older than the last holder's
   * settle.
   */
  private static final String READ =
      """
      select ${columns}
      from (
        select l.*, """
          + HORIZON
          + """
               as horizon,
              (select true from ${q}${p}blocked_key k
                where k.bucket = l.bucket limit 1) is not null as any_blocked
            from ${leased} l
            offset 0
          ) l
          ${join} (
            select m.*,
              case when l.any_blocked and (select true from ${q}${p}blocked_key k
                where k.bucket = m.bucket and k.key = ${messageKey}
                limit 1) is not null then 'BLOCKED' ${orElse} end as target
            from ${q}${p}message m
            where m.bucket = l.bucket and ${where}
            order by ${order}
            limit l.most
          ) m on true
          """;

  private static final String LEASED =
      "(select * from unnest(?, ?, ?) l (bucket, low_water, most))";

  static final String PENDING =
      READ.replace("${orElse}", "when m.available_at > statement_timestamp() then 'SCHEDULED'")
          .replace("${where}", "m.status = 'PENDING' and m.seq + 0 >= l.low_water")
          .replace("${order}", "m.seq + 0");

  private static final String SCHEDULED =
      READ.replace("${orElse}", "")
          .replace("${where}", "m.status = 'SCHEDULED' and m.available_at <= statement_timestamp()")
          .replace("${order}", "m.available_at, m.seq");

  /** Whether all of these transactions are open, as the statement's snapshot has it. */
  static final String ALL_OPEN =
      " not exists (select from unnest(${open}) x"
          + " where pg_visible_in_snapshot(x::text::xid8, pg_current_snapshot()))";

  /** Reading begins further ahead as long as some transactions are open, see {@link Mark.Ahead}. */
  static final String LEASED_AHEAD =
      """
      (select l.bucket, case when o.ahead then l.ahead else l.low_water end as low_water,
          l.most, o.ahead
        from unnest(?, ?, ?, ?) l (bucket, low_water, most, ahead),
          (select """
          + ALL_OPEN.replace("${open}", "?")
          + """
              as ahead offset 0) o)
          """;

  static final String HORIZON_AHEAD = "case when l.ahead then l.horizon else 0 end as horizon";

  private static final String READ_PENDING = messages(PENDING).replace("${leased}", LEASED);
  private static final String READ_AHEAD = ahead(messages(PENDING));
  private static final String READ_SCHEDULED = messages(SCHEDULED).replace("${leased}", LEASED);
  private static final String SIZES_PENDING = sizes(PENDING).replace("${leased}", LEASED);
  private static final String SIZES_AHEAD = ahead(sizes(PENDING));
  private static final String SIZES_SCHEDULED = sizes(SCHEDULED).replace("${leased}", LEASED);

  static String ahead(String read) {
    return read.replace("${leased}", LEASED_AHEAD).replace("l.horizon", HORIZON_AHEAD);
  }

  /** What {@link Certified} takes. */
  private static final String SNAPSHOT =
      """
      select pg_snapshot_xmax(s.now)::text::bigint, x::text::bigint
      from (select pg_current_snapshot() as now) s left join pg_snapshot_xip(s.now) x on true
      """;

  static String messages(String read) {
    String content =
        Rows.COLUMNS.replace(
            "m.payload",
            "case when m.target is null and octet_length(m.payload) <= ? then m.payload end");
    return read.replace("${columns}", content + ", m.target, l.horizon")
        .replace("${join}", "left join lateral");
  }

  private static String sizes(String read) {
    String size =
        "m.bucket, case when m.target is null then octet_length(m.payload) else 0 end as size";
    return read.replace("${columns}", size).replace("${join}", "join lateral");
  }

  /** The head is read first by itself: whether it failed before says how many come with it. */
  private static final String READ_BLOCKED =
      """
      select * from (
      select m.*, d.bucket as due_bucket, d.key as due_key, d.low_seq as due_low_seq, d.retry_at,
        sum(coalesce(octet_length(m.payload), 0))
          over (partition by d.bucket order by d.retry_at, d.key, m.seq)
          - coalesce(octet_length(m.payload), 0) as bytes_before
      from unnest(?, ?, ?) l (bucket, low_water, most)
      cross join lateral (
        select k.*, count(*) over () as due
        from (
          select * from ${q}${p}blocked_key k
          where k.bucket = l.bucket and k.halted_by is null and k.retry_at <= statement_timestamp()
          order by k.retry_at
          limit l.most
        ) k
      ) d
      left join lateral (
        select m.seq, m.last_failed_at is not null as failed
        from ${q}${p}message m
        where m.bucket = d.bucket and m.status = 'BLOCKED'
          and ${messageKey} = d.key and m.seq + 0 >= d.low_seq
        order by m.seq + 0
        limit 1
      ) head on true
      left join lateral (
        select
      """
          + Rows.COLUMNS
          + """
            from ${q}${p}message m
            where m.bucket = d.bucket and m.status = 'BLOCKED'
              and ${messageKey} = d.key and m.seq + 0 >= head.seq
            order by m.seq + 0
            limit case when head.failed then 1 else greatest(1, l.most / d.due) end
          ) m on true
          ) due
          where bytes_before < ?
          order by due_bucket, retry_at, due_key, seq
          """;

  /**
   * With the ids that the rows must have, as bytes, which the driver sends as they are and an array
   * of uuid as text; and as a table that is hashed once, because an array of a parameter is
   * searched from its beginning for each row. {@code is true} keeps the planner from making a join
   * of it.
   */
  static final String THESE = " seq = any(?) and (uuid_send(id) in (select unnest(?))) is true";

  private static final String MOVE_TO_BLOCKED =
      "update ${q}${p}message set status = 'BLOCKED'"
          + " where"
          + THESE
          + " and status in ('PENDING', 'SCHEDULED')";

  private static final String MOVE_TO_SCHEDULED =
      "update ${q}${p}message set status = 'SCHEDULED'"
          + " where"
          + THESE
          + " and status = 'PENDING'";

  private static final String COUNT =
      "update ${q}${p}message set attempts = greatest(0, least(attempts, 2147483646) + ?)"
          + " where"
          + THESE
          + ""
          + " and status in ('PENDING', 'SCHEDULED', 'BLOCKED')";

  private static final String DELETE = "delete from ${q}${p}message m where" + THESE;

  /** Nothing, where one of those is over that the ranges stand beside: it may have put a row in. */
  private static final String DELETE_RANGES =
      """
      delete from ${q}${p}message m
      using unnest(?, ?, ?) r (bucket, lowest, highest)
      where m.bucket = r.bucket and m.status = 'PENDING'
        and m.seq + 0 between r.lowest and r.highest
        and (select """
          + ALL_OPEN.replace("${open}", "?")
          + ")";

  /** With a cache a session gives numbers out that the low-water marks have long passed. */
  private static final String WRONG_SEQUENCE =
      """
      (select format('the sequence %1$s has cache %2$s and increment %3$s, and messages have an order only with 1 and 1: a session would give them numbers that others have long passed; run alter sequence %1$s cache 1 increment 1',
          s.seqrelid::regclass, s.seqcache, s.seqincrement)
        from pg_catalog.pg_sequence s
        where s.seqrelid = pg_get_serial_sequence('${q}${p}message', 'seq')::regclass
          and (s.seqcache <> 1 or s.seqincrement <> 1))
      """;

  /** The year 9999 begins. */
  private static final long LAST_USUAL = Instant.parse("9999-01-01T00:00:00Z").toEpochMilli();

  /** After a range held other messages than were delivered, so many deletes are exact. */
  private static final int EXACT_DELETES = 100;

  private static final String FAIL =
      """
      update ${q}${p}message set
        status = :status, attempts = :attemptsAfter, last_error = :error,
        last_failed_at = statement_timestamp()
      where bucket = :bucket and seq = :seq and id = :id and attempts = :attempts
        and case when available_at is not null then
            least(greatest(available_at, '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999999+00')
          end is not distinct from cast(:availableAt as timestamp) at time zone 'UTC'
        and status in ('PENDING', 'SCHEDULED', 'BLOCKED')
      """;

  private static final String BLOCK =
      """
      insert into ${q}${p}blocked_key as k (bucket, key, retry_at, halted_by, low_seq)
      values (:bucket, :key, statement_timestamp() + :delayMillis * interval '1 millisecond',
        case when :halted then :seq end, :lowSeq)
      on conflict (bucket, key) do update set
        retry_at = excluded.retry_at,
        halted_by = coalesce(excluded.halted_by, k.halted_by),
        low_seq = least(k.low_seq, excluded.low_seq)
      """;

  private static final String LOWER =
      "update ${q}${p}blocked_key set low_seq = :seq"
          + " where bucket = :bucket and key = :key and low_seq > :seq";

  private static final String ADVANCE =
      """
      update ${q}${p}blocked_key k set
        retry_at = statement_timestamp(),
        low_seq = coalesce(
          (select min(m.seq + 0) from ${q}${p}message m
           where m.bucket = k.bucket and m.status = 'BLOCKED'
             and ${messageKey} = k.key and m.seq + 0 >= k.low_seq),
          k.low_seq)
      where k.bucket = :bucket and k.key = :key and k.halted_by is null
      """;

  private static final String FREE_KEY =
      """
      delete from ${q}${p}blocked_key k
      where k.bucket = :bucket and k.key = :key and k.halted_by is null
        and not exists (select from ${q}${p}message m
          where m.bucket = k.bucket and m.status = 'BLOCKED'
            and ${messageKey} = k.key and m.seq + 0 >= k.low_seq)
      """;

  private final Archive kept;
  private final PostgresArchive archive;
  private final String deleteRanges;
  private final String deleteThese;
  private final Append append;
  private final Hot hot = new Hot(stallGuard, this::fill);
  private final Certified certified;
  private final Elsewhere elsewhere = new Elsewhere(System::nanoTime);
  private final PostgresLook look;

  /** How many deletes are still to be made message by message. */
  private final AtomicInteger exactDeletes = new AtomicInteger();

  /**
   * Without an archive.
   *
   * @param patience as {@link Certified#PATIENCE}
   */
  PostgresDialect(Names names, Pooler pooler, Duration patience) {
    this(names, pooler, Archive.NONE, patience);
  }

  PostgresDialect(Names names, Pooler pooler, Archive kept) {
    this(names, pooler, kept, Certified.PATIENCE);
  }

  private PostgresDialect(Names names, Pooler pooler, Archive kept, Duration patience) {
    super(names, pooler);
    this.kept = kept;
    certified = new Certified(System::nanoTime, patience);
    look = new PostgresLook(this, hot, certified, elsewhere);
    append = new Append(names);
    archive = new PostgresArchive(kept);
    deleteRanges = deleting(DELETE_RANGES);
    deleteThese = deleting(DELETE);
  }

  /** A query that says how many were deleted; with an archive, and moved there. */
  private String deleting(String delete) {
    return kept == Archive.NONE
        ? delete
        : "with " + archive.moving(delete) + " select count(*) from deleted";
  }

  // ---- the server

  @Override
  public String changelog() {
    return "dev/outbox/store/postgres/changelog.sql";
  }

  @Override
  String wrongSequence() {
    return WRONG_SEQUENCE;
  }

  @Override
  public Archive archive() {
    return kept;
  }

  @Override
  public ArchiveServer archiveServer() {
    return new PostgresArchiveServer(names.archive(), pooler);
  }

  @Override
  public ArchiveTexts archiveTexts() {
    return archive;
  }

  @Override
  public void beginWithLeases(Handle handle, Duration patience) throws SQLException {
    hot.beginWithFirst(handle, patience);
  }

  @Override
  public boolean beginAlone(Handle handle, Duration patience) {
    hot.beginAlone(handle, patience);
    return true;
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    pooler.check(connection);
    return append.append(connection, messages, dedupWindow);
  }

  @Override
  public Optional<List<Alone>> appendToHandOver(
      Connection connection, List<OutboxMessage> messages, List<Lease> open) throws SQLException {
    pooler.check(connection);
    Mark.Asked asked = Mark.Asked.of(open);
    return asked.buckets() != 0 && Append.mayBeHandedOver(messages)
        ? Optional.of(append.appendToHandOver(connection, messages, asked))
        : Optional.empty();
  }

  @Override
  public String fill(String sql) {
    return super.fill(sql.replace("${messageKey}", MESSAGE_KEY));
  }

  /**
   * By the driver's timestamp where that is exact, which it makes without a calendar: the other way
   * costs about a fifth of what decoding a message does. A time before 1970 or after 9998, or an
   * infinite one, takes that way.
   */
  @Override
  public @Nullable Instant instant(ResultSet rows, int column) throws SQLException {
    Timestamp usual = rows.getTimestamp(column);
    if (usual == null) {
      return null;
    }
    if (usual.getTime() >= 0 && usual.getTime() < LAST_USUAL) {
      return usual.toInstant();
    }
    return rows.getObject(column, OffsetDateTime.class).toInstant();
  }

  @Override
  public Leases<Handle> leases() {
    return new PostgresLeases(
        this, hot, certified, elsewhere, kept == Archive.NONE ? null : archive);
  }

  @Override
  public SqlAdministration.Texts administration() {
    return new PostgresAdministration();
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
    ask(handle, Mark.of(leases.get(0)).sample());
    boolean ahead = isAhead(status, leases);
    return hot.query(
        handle,
        ahead ? READ_AHEAD : status == Status.PENDING ? READ_PENDING : READ_SCHEDULED,
        parameters -> bind(parameters.add(bytes), leases, most, ahead),
        reader);
  }

  /** Asks for a snapshot when it is time for one. */
  void ask(Handle handle, Sample sample) {
    if (certified.asks(sample)) {
      certified.answered(sample, snapshot(handle));
    }
  }

  private Snapshot snapshot(Handle handle) {
    return hot.query(
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

  private static boolean isAhead(Status status, List<Lease> leases) {
    return status == Status.PENDING && !Mark.Ahead.openOf(leases).isEmpty();
  }

  @Override
  public <R> R sizes(
      Handle handle,
      Status status,
      List<Lease> leases,
      ToIntFunction<Lease> most,
      Reader<R> reader) {
    boolean ahead = isAhead(status, leases);
    return hot.query(
        handle,
        ahead ? SIZES_AHEAD : status == Status.PENDING ? SIZES_PENDING : SIZES_SCHEDULED,
        parameters -> bind(parameters, leases, most, ahead),
        reader);
  }

  @Override
  public Look look(Handle handle, UUID claimId, List<Lease> leases, Limits limits) {
    return look.at(handle, claimId, leases, limits);
  }

  @Override
  public List<Lease> afterRead(
      List<Lease> leases, List<Row> rows, ToIntFunction<Lease> most, long horizon) {
    return Mark.afterRead(leases, rows, most, certified, horizon);
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    Rows rows = new Rows(this);
    return hot.query(
        handle,
        READ_BLOCKED,
        parameters ->
            bind(parameters, leases, lease -> lease.single() ? 1 : limits.messages())
                .add(limits.bytes()),
        row -> {
          List<Row> found = new ArrayList<>();
          while (row.next()) {
            found.add(rows.blocked(row));
          }
          return found;
        });
  }

  private static Parameters bind(
      Parameters parameters, List<Lease> leases, ToIntFunction<Lease> most) throws SQLException {
    return parameters
        .integers(leases, Lease::bucket)
        .longs(leases, lease -> Mark.of(lease).low())
        .integers(leases, most);
  }

  /**
   * @param ahead whether for {@link #LEASED_AHEAD}
   */
  static Parameters bind(
      Parameters parameters, List<Lease> leases, ToIntFunction<Lease> most, boolean ahead)
      throws SQLException {
    bind(parameters, leases, most);
    return ahead
        ? parameters
            .longs(leases, lease -> Mark.of(lease).ahead().low())
            .longs(Mark.Ahead.openOf(leases), Long::longValue)
        : parameters;
  }

  // ---- writes

  /** One statement for all buckets: the rows are found by the primary key. */
  @Override
  public int forRows(
      Handle handle, String sql, Collection<? extends OfMessage> rows, Map<String, ?> more) {
    return hot.update(
        handle,
        sql,
        parameters -> {
          for (Object value : more.values()) {
            parameters.add((Integer) value);
          }
          these(parameters, rows);
        });
  }

  /**
   * Of each bucket the messages that stand in front, as a range, where nothing else can come to
   * stand between. That is most of them, and costs half. When a range holds another number of
   * messages than were delivered, because somebody changes rows by hand, a settle is repeated, or a
   * transaction that stayed open is over, the transaction is undone and run again, message by
   * message.
   */
  @Override
  public List<Lease> delete(
      Handle handle, Collection<Lease> leases, Collection<Claimable> delivered) {
    boolean byRange = exactDeletes.getAndUpdate(left -> Math.max(0, left - 1)) == 0;
    int[] inFront = Mark.inFront(leases, delivered);
    List<Range> ranges = new ArrayList<>();
    Set<Long> open = Set.of();
    long[] upTo = new long[Database.BUCKETS];
    Arrays.fill(upTo, Long.MIN_VALUE);
    List<Lease> after = new ArrayList<>();
    for (Lease lease : leases) {
      Mark mark = Mark.of(lease);
      int messages = inFront[lease.bucket()];
      after.add(lease.with(mark.afterDelete(messages)));
      OptionalLong last = byRange ? mark.certifiedUpTo(messages) : OptionalLong.empty();
      if (last.isPresent()) {
        ranges.add(new Range(lease.bucket(), mark.ahead().low(), last.getAsLong(), messages));
        open = Mark.Ahead.both(open, mark.read().below().open());
        upTo[lease.bucket()] = last.getAsLong();
      }
    }
    delete(handle, ranges, open, delivered);
    List<Claimable> rest = new ArrayList<>();
    for (Claimable row : delivered) {
      if (row.status() != Status.PENDING || row.sequence() > upTo[row.bucket()]) {
        rest.add(row);
      }
    }
    boolean found =
        rest.isEmpty()
            || delete(handle, deleteThese, parameters -> these(parameters, rest), rest)
                == rest.size();
    return found ? after : List.copyOf(leases);
  }

  private record Range(int bucket, long lowest, long highest, int messages) {}

  /** Returns how many were deleted. */
  private int delete(
      Handle handle, String sql, Hot.Binder binder, Collection<Claimable> delivered) {
    return kept == Archive.NONE
        ? hot.update(handle, sql, binder)
        : hot.query(
            handle,
            sql,
            parameters -> {
              binder.bind(parameters);
              PostgresArchive.bind(parameters, delivered);
            },
            row -> row.next() ? row.getInt(1) : 0);
  }

  private void delete(
      Handle handle, List<Range> ranges, Set<Long> open, Collection<Claimable> delivered) {
    if (ranges.isEmpty()) {
      return;
    }
    int expected = ranges.stream().mapToInt(Range::messages).sum();
    int deleted =
        delete(
            handle,
            deleteRanges,
            parameters ->
                parameters
                    .integers(ranges, Range::bucket)
                    .longs(ranges, Range::lowest)
                    .longs(ranges, Range::highest)
                    .longs(open, Long::longValue),
            delivered);
    if (deleted != expected) {
      exactDeletes.set(EXACT_DELETES);
      throw new TransactionException(
          new SQLException(
              "%d messages were to be deleted, %d were".formatted(expected, deleted), "40001"));
    }
  }

  /** Binds what {@link #THESE} takes. */
  static Parameters these(Parameters parameters, Collection<? extends OfMessage> rows)
      throws SQLException {
    return parameters.longs(rows, OfMessage::sequence).bytes(rows, row -> bytes((UUID) row.id()));
  }

  private static byte[] bytes(UUID id) {
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(id.getMostSignificantBits())
        .putLong(id.getLeastSignificantBits())
        .array();
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
  public void block(Handle handle, List<Block> blocks) {
    int[] ignored = Batches.run(handle, BLOCK, blocks, Batches::bind);
  }

  @Override
  public String lower() {
    return LOWER;
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    Batches.forKeys(handle, FREE_KEY, keys);
    Batches.forKeys(handle, ADVANCE, keys);
  }
}
