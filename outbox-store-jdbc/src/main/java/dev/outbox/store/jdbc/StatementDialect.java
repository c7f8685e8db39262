package dev.outbox.store.jdbc;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Mark;
import dev.outbox.store.core.Room;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Served;
import dev.outbox.store.core.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements that all databases have in the same form ({@link Sql}), and reads what they
 * give. A database adds the texts, and those statements that are its own.
 */
public abstract class StatementDialect extends Administration {
  private static final DateTimeFormatter MICROSECONDS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS");

  /**
   * @param statements one for each of {@link Sql}
   */
  protected StatementDialect(Map<Sql, String> statements) {
    super(statements);
  }

  /** An id as it is bound: as text, unless the database has a type for it. */
  protected Object id(UUID id) {
    return id.toString();
  }

  /**
   * The query for {@link Sql#READ_PENDING} or {@link Sql#READ_SCHEDULED}.
   *
   * @param most how many messages of each bucket
   * @param bytes the most bytes of a payload
   */
  protected abstract Query read(
      Handle handle, Sql sql, List<Lease> leases, ToIntFunction<Lease> most, long bytes);

  /** The query for {@link Sql#SIZES_PENDING} or {@link Sql#SIZES_SCHEDULED}. */
  protected abstract Query sizes(
      Handle handle, Sql sql, List<Lease> leases, ToIntFunction<Lease> most);

  /** Runs a statement for the rows with these buckets, sequences and ids. */
  protected abstract void forRows(
      Handle handle, String sql, Collection<Row> rows, Map<String, ?> more);

  /** Reads a row with bucket, token, scheduled, blocked, singles and served_at. */
  protected final Served served(ResultSet row, ClaimRequest request) throws SQLException {
    return new Served(
        requireNonNull(instant(row, row.findColumn("served_at"))),
        new Lease(
            row.getInt("bucket"),
            row.getLong("token"),
            mark(row),
            row.getBoolean("scheduled"),
            row.getBoolean("blocked"),
            row.getInt("singles") > 0,
            request.lease(),
            0,
            System.nanoTime()));
  }

  /** The mark that a leased bucket's row has; none where the database has no marks. */
  protected Mark mark(ResultSet row) throws SQLException {
    return Mark.none("");
  }

  /** Reads a row with bucket, left_millis, scheduled, blocked, txid and history. */
  protected static Held held(ResultSet row) throws SQLException {
    return new Held(
        row.getInt("bucket"),
        Duration.ofMillis(row.getLong("left_millis")),
        row.getBoolean("scheduled"),
        row.getBoolean("blocked"),
        row.getLong("txid"),
        row.getString("history"));
  }

  @Override
  public Set<Integer> renew(Handle handle, UUID owner, Collection<Lease> leases, Duration lease) {
    List<Lease> ascending = leases.stream().sorted(Comparator.comparingInt(Lease::bucket)).toList();
    return changed(
            handle,
            text(Sql.RENEW),
            ascending,
            (batch, held) ->
                batch
                    .bind("owner", id(owner))
                    .bind("bucket", held.bucket())
                    .bind("token", held.token())
                    .bind("leaseMillis", lease.toMillis()))
        .stream()
        .map(Lease::bucket)
        .collect(Collectors.toSet());
  }

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, Status.PENDING, leases, limits);
  }

  @Override
  public List<Row> readScheduled(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, Status.SCHEDULED, leases, limits).rows();
  }

  /**
   * Without payloads larger than their share, and mostly there are none. Where there are, as many
   * messages of each bucket as the bytes have room for: at least one.
   */
  private Pending read(Handle handle, Status status, List<Lease> leases, Limits limits) {
    Sql sql = status == Status.PENDING ? Sql.READ_PENDING : Sql.READ_SCHEDULED;
    ToIntFunction<Lease> most = lease -> lease.single() ? 1 : limits.messages();
    long share = limits.bytes() / limits.messages();
    return scan(read(handle, sql, leases, most, share), status)
        .or(
            () -> {
              Map<Integer, Integer> fit = fit(handle, status, leases, most, limits);
              ToIntFunction<Lease> fewer = lease -> fit.getOrDefault(lease.bucket(), 1);
              return scan(read(handle, sql, leases, fewer, Long.MAX_VALUE), status);
            })
        .orElseThrow();
  }

  /** For how many messages of each bucket there is room. */
  private Map<Integer, Integer> fit(
      Handle handle, Status status, List<Lease> leases, ToIntFunction<Lease> most, Limits limits) {
    Sql sql = status == Status.PENDING ? Sql.SIZES_PENDING : Sql.SIZES_SCHEDULED;
    Room room = new Room(leases, limits);
    Map<Integer, Integer> messages = new HashMap<>();
    sizes(handle, sql, leases, most)
        .map((row, context) -> new int[] {row.getInt("bucket"), row.getInt("size")})
        .forEach(
            row -> {
              if (room.take(row[0], row[1])) {
                messages.merge(row[0], 1, Integer::sum);
              }
            });
    return messages;
  }

  /** Empty when a payload was left out. */
  private Optional<Pending> scan(Query query, Status status) {
    return query.scanResultSet(
        (results, context) -> {
          ResultSet row = results.get();
          List<Row> found = new ArrayList<>();
          long horizon = 0;
          while (row.next()) {
            horizon = row.getLong(Rows.HORIZON);
            if (Rows.leftOut(row)) {
              return Optional.empty();
            }
            if (Rows.isMessage(row)) {
              found.add(rows.row(row, status));
            }
          }
          return Optional.of(new Pending(found, horizon));
        });
  }

  /**
   * Reads a row with {@link Rows#COLUMNS}, due_bucket, due_key and due_low_seq, of which the first
   * are null for a due key without BLOCKED messages.
   */
  protected final Row blocked(ResultSet row) throws SQLException {
    return Rows.isMessage(row)
        ? rows.claimable(row, Status.BLOCKED)
        : Row.emptyKey(
            row.getInt("due_bucket"), row.getLong("due_low_seq"), row.getString("due_key"));
  }

  @Override
  public void move(Handle handle, Collection<Row> rows) {
    forRows(handle, Sql.MOVE_TO_BLOCKED, to(Status.BLOCKED, rows), Map.of());
    forRows(handle, Sql.MOVE_TO_SCHEDULED, to(Status.SCHEDULED, rows), Map.of());
  }

  private static List<Row> to(Status target, Collection<Row> rows) {
    return rows.stream().filter(row -> row.target() == target).toList();
  }

  @Override
  public void count(Handle handle, Collection<Row> rows, int by) {
    forRows(handle, Sql.COUNT, rows, Map.of("by", by));
  }

  @Override
  public void delete(Handle handle, Collection<Row> rows) {
    forRows(handle, Sql.DELETE, rows, Map.of());
  }

  private void forRows(Handle handle, Sql sql, Collection<Row> rows, Map<String, ?> more) {
    if (!rows.isEmpty()) {
      forRows(handle, text(sql), rows, more);
    }
  }

  @Override
  public Set<Long> fail(Handle handle, List<Failure> failures) {
    return changed(handle, text(Sql.FAIL), failures, this::bind).stream()
        .map(failure -> failure.row().sequence())
        .collect(Collectors.toSet());
  }

  /** Binds the parameters of {@link Sql#FAIL}. */
  protected PreparedBatch bind(PreparedBatch batch, Failure failure) {
    return batch
        .bind("bucket", failure.row().bucket())
        .bind("seq", failure.row().sequence())
        .bind("id", failure.row().id())
        .bind("availableAt", text(failure.row().availableAt()))
        .bind("attempts", failure.attempts())
        .bind("attemptsAfter", failure.attemptsAfter())
        .bind("status", failure.status().name())
        .bind("error", failure.error());
  }

  /** In UTC, without saying so: to the microsecond, as databases have it. */
  private static @Nullable String text(@Nullable Instant time) {
    return time == null ? null : MICROSECONDS.format(time.atOffset(ZoneOffset.UTC));
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    batch(handle, text(Sql.BLOCK), blocks, StatementDialect::bind);
  }

  /** Binds the parameters of {@link Sql#BLOCK}. */
  protected static PreparedBatch bind(PreparedBatch batch, Block block) {
    return batch
        .bind("bucket", block.bucket())
        .bind("key", block.key())
        .bind("seq", block.sequence())
        .bind("lowSeq", block.lowSequence())
        .bind("delayMillis", block.delay().toMillis())
        .bind("halted", block.halted());
  }

  @Override
  public void lower(Handle handle, List<Key> keys) {
    forKeys(handle, text(Sql.LOWER), keys);
  }

  /** Runs a statement with {@code :bucket, :key, :seq} for each key. */
  protected static void forKeys(Handle handle, String sql, Collection<Key> keys) {
    batch(
        handle,
        sql,
        keys,
        (batch, key) ->
            batch.bind("bucket", key.bucket()).bind("key", key.key()).bind("seq", key.sequence()));
  }

  /** Binds a row's values. */
  protected interface Binder<R> {
    void bind(PreparedBatch batch, R row);
  }

  /** Runs a statement for each row in turn; returns how many rows of the table each changed. */
  protected static <R> int[] batch(
      Handle handle, String sql, Collection<R> rows, Binder<R> binder) {
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

  /** Runs a statement for each row in turn; returns those for which it changed something. */
  protected static <R> List<R> changed(Handle handle, String sql, List<R> rows, Binder<R> binder) {
    int[] counts = batch(handle, sql, rows, binder);
    return IntStream.range(0, counts.length)
        .filter(i -> counts[i] > 0)
        .mapToObj(rows::get)
        .toList();
  }
}
