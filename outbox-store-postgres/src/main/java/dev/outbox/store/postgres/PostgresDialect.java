package dev.outbox.store.postgres;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.jdbc.Dialect;
import dev.outbox.store.jdbc.Lease;
import dev.outbox.store.jdbc.Mark;
import dev.outbox.store.jdbc.Names;
import dev.outbox.store.jdbc.Row;
import dev.outbox.store.jdbc.Status;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** PostgreSQL's statements, types and error numbers. */
final class PostgresDialect implements Dialect {
  private final PostgresStatements sql;
  private final Append append;
  private final StallGuard stallGuard = new StallGuard();

  PostgresDialect(Names names) {
    sql = new PostgresStatements(names);
    append = new Append(sql);
  }

  @Override
  public String name() {
    return "PostgreSQL";
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/postgres/changelog.sql";
  }

  @Override
  public Trouble trouble(SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    return switch (state) {
      case "40001", "40P01", "55P03" -> Trouble.CONFLICT;
      case "42P01", "42703", "3F000" -> Trouble.MISSING_SCHEMA;
      case "25006" -> Trouble.READ_ONLY;
      case "25P02" -> Trouble.FAILED_BEFORE;
      case "28000", "28P01", "3D000" -> Trouble.REFUSED;
      // Starting up, no connection left, no memory or disk for it.
      case "57P03", "53300", "53100", "53200", "08001", "08004" -> Trouble.UNREACHABLE;
      // Time limits of statements, transactions and sessions; shut down; killed.
      case "57014", "25P03", "25P04", "57P01", "57P02", "57P05" -> Trouble.CUT_OFF;
      default -> {
        if (failure instanceof SQLTransientConnectionException) {
          yield Trouble.UNREACHABLE;
        }
        yield state.startsWith("08") ? Trouble.CUT_OFF : Trouble.OTHER;
      }
    };
  }

  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    stallGuard.begin(connection, patience);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.schemaVersion);
        ResultSet rows = statement.executeQuery()) {
      if (!rows.next()) {
        return 0;
      }
      String encoding = rows.getString("encoding");
      if (!encoding.equals("UTF8")) {
        throw new OutboxException(
            "the database's encoding is %s, which cannot hold every text: use one that was created with encoding 'UTF8'"
                .formatted(encoding));
      }
      return rows.getInt("version");
    }
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    return append.append(connection, messages, dedupWindow);
  }

  @Override
  public List<Lease> lease(Handle handle, UUID owner, ClaimRequest request, int most) {
    record Served(OffsetDateTime at, Lease lease) {}
    return handle
        .createQuery(sql.lease)
        .bind("owner", owner)
        .bind("relay", request.owner())
        .bind("leaseMillis", request.lease().toMillis())
        .bind("mostMessages", request.maxMessages())
        .bind("most", most)
        .map(
            (rows, context) ->
                new Served(
                    rows.getObject("served_at", OffsetDateTime.class),
                    lease(rows, request.lease())))
        .stream()
        .sorted(Comparator.comparing(Served::at).thenComparing(served -> served.lease().bucket()))
        .map(Served::lease)
        .toList();
  }

  private static Lease lease(ResultSet rows, Duration left) throws SQLException {
    return new Lease(
        rows.getInt("bucket"),
        rows.getLong("token"),
        Mark.stored(
            rows.getLong("low_water"),
            rows.getLong("next_low_water"),
            rows.getLong("next_low_water_txid")),
        rows.getBoolean("scheduled"),
        rows.getBoolean("blocked"),
        rows.getBoolean("single"),
        left,
        0,
        System.nanoTime());
  }

  @Override
  public Set<Integer> renew(Handle handle, UUID owner, Collection<Lease> leases, Duration lease) {
    List<Lease> ascending = leases.stream().sorted(Comparator.comparingInt(Lease::bucket)).toList();
    PreparedBatch batch = handle.prepareBatch(sql.renew);
    for (Lease held : ascending) {
      batch
          .bind("owner", owner)
          .bind("bucket", held.bucket())
          .bind("token", held.token())
          .bind("leaseMillis", lease.toMillis())
          .add();
    }
    int[] changed = batch.execute();
    Set<Integer> ours = new HashSet<>();
    for (int i = 0; i < changed.length; i++) {
      if (changed[i] > 0) {
        ours.add(ascending.get(i).bucket());
      }
    }
    return ours;
  }

  @Override
  public List<Held> lockHeld(Handle handle, UUID owner, Collection<Lease> leases) {
    return handle
        .createQuery(sql.lockHeld)
        .bind("owner", owner)
        .bindArray("buckets", Integer.class, leases.stream().map(Lease::bucket).toList())
        .bindArray("tokens", Long.class, leases.stream().map(Lease::token).toList())
        .map(
            (rows, context) ->
                new Held(
                    rows.getInt("bucket"),
                    Duration.ofMillis(rows.getLong("left_millis")),
                    rows.getBoolean("scheduled"),
                    rows.getBoolean("blocked"),
                    rows.getLong("txid")))
        .list();
  }

  @Override
  public void release(Handle handle, UUID owner, List<Release> releases) {
    List<Lease> leases = releases.stream().map(Release::lease).toList();
    List<Mark> marks = leases.stream().map(Lease::mark).toList();
    handle
        .createUpdate(sql.release)
        .bind("owner", owner)
        .bindArray("buckets", Integer.class, leases.stream().map(Lease::bucket).toList())
        .bindArray("decided", Integer.class, releases.stream().map(Release::decided).toList())
        .bindArray("settled", Boolean.class, releases.stream().map(Release::settled).toList())
        .bindArray("keepsTurn", Boolean.class, releases.stream().map(Release::keepsTurn).toList())
        .bindArray("lowWater", Long.class, marks.stream().map(Mark::low).toList())
        .bindArray("nextLowWater", Long.class, marks.stream().map(Mark::candidate).toList())
        .bindArray("txids", Long.class, marks.stream().map(Mark::after).toList())
        .execute();
  }

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, sql.readPending, Status.PENDING, leases, limits);
  }

  @Override
  public List<Row> readScheduled(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, sql.readScheduled, Status.SCHEDULED, leases, limits).rows();
  }

  /** Carefully only where a payload is larger than its share: mostly none is. */
  private static Pending read(
      Handle handle,
      PostgresStatements.Read sql,
      Status status,
      List<Lease> leases,
      Limits limits) {
    long share = limits.bytes() / limits.messages();
    return scan(read(handle, sql.quick(), leases, limits, share), status)
        .or(() -> scan(read(handle, sql.careful(), leases, limits, limits.bytes()), status))
        .orElseThrow();
  }

  /** Empty when a payload was left out. */
  private static Optional<Pending> scan(Query query, Status status) {
    return query.scanResultSet(
        (results, context) -> {
          ResultSet rows = results.get();
          List<Row> found = new ArrayList<>();
          long horizon = Long.MIN_VALUE;
          while (rows.next()) {
            horizon = rows.getLong(Rows.HORIZON);
            if (Rows.leftOut(rows)) {
              return Optional.empty();
            }
            if (Rows.isMessage(rows)) {
              found.add(Rows.row(rows, status));
            }
          }
          return Optional.of(new Pending(found, horizon));
        });
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return read(handle, sql.readBlocked, leases, limits, limits.bytes())
        .map(
            (rows, context) ->
                Rows.isMessage(rows)
                    ? Rows.claimable(rows, Status.BLOCKED)
                    : new Row(
                        rows.getInt("due_bucket"),
                        rows.getLong("due_low_seq"),
                        rows.getString("due_key"),
                        Status.BLOCKED,
                        null,
                        null))
        .list();
  }

  private static Query read(
      Handle handle, String sql, List<Lease> leases, Limits limits, long bytes) {
    return handle
        .createQuery(sql)
        .bindArray("buckets", Integer.class, leases.stream().map(Lease::bucket).toList())
        .bindArray(
            "lowWater", Long.class, leases.stream().map(lease -> lease.mark().low()).toList())
        .bindArray(
            "most",
            Integer.class,
            leases.stream().map(lease -> lease.single() ? 1 : limits.messages()).toList())
        .bind("bytes", bytes);
  }

  @Override
  public void move(Handle handle, Collection<Row> rows) {
    perBucket(
        handle,
        sql.moveToBlocked,
        rows.stream().filter(r -> r.target() == Status.BLOCKED).toList());
    perBucket(
        handle,
        sql.moveToScheduled,
        rows.stream().filter(r -> r.target() == Status.SCHEDULED).toList());
  }

  @Override
  public void count(Handle handle, Collection<Row> rows, int by) {
    try (PreparedBatch batch = handle.prepareBatch(sql.count)) {
      byBucket(rows)
          .forEach(
              (bucket, seqs) ->
                  batch
                      .bind("by", by)
                      .bind("bucket", bucket)
                      .bindArray("seqs", Long.class, seqs)
                      .add());
      batch.execute();
    }
  }

  @Override
  public void delete(Handle handle, Collection<Row> rows) {
    perBucket(handle, sql.delete, rows);
  }

  /** One statement a bucket, in one round trip: each is a plain look-up by the primary key. */
  private static void perBucket(Handle handle, String sql, Collection<Row> rows) {
    if (rows.isEmpty()) {
      return;
    }
    try (PreparedBatch batch = handle.prepareBatch(sql)) {
      byBucket(rows)
          .forEach(
              (bucket, seqs) ->
                  batch.bind("bucket", bucket).bindArray("seqs", Long.class, seqs).add());
      batch.execute();
    }
  }

  private static Map<Integer, List<Long>> byBucket(Collection<Row> rows) {
    return rows.stream()
        .collect(
            Collectors.groupingBy(
                Row::bucket, TreeMap::new, Collectors.mapping(Row::sequence, Collectors.toList())));
  }

  @Override
  public Set<Long> fail(Handle handle, List<Failure> failures) {
    int[] changed =
        batch(
            handle,
            sql.fail,
            failures,
            (batch, failure) ->
                batch
                    .bind("bucket", failure.row().bucket())
                    .bind("seq", failure.row().sequence())
                    .bind("attempts", failure.attempts())
                    .bind("attemptsAfter", failure.attemptsAfter())
                    .bind("status", failure.status().name())
                    .bind("error", failure.error()));
    Set<Long> sequences = new HashSet<>();
    for (int i = 0; i < changed.length; i++) {
      if (changed[i] > 0) {
        sequences.add(failures.get(i).row().sequence());
      }
    }
    return sequences;
  }

  @Override
  public void block(Handle handle, List<Block> blocks) {
    batch(
        handle,
        sql.block,
        blocks,
        (batch, block) ->
            batch
                .bind("bucket", block.bucket())
                .bind("key", block.key())
                .bind("seq", block.sequence())
                .bind("lowSeq", block.lowSequence())
                .bind("delayMillis", block.delay().toMillis())
                .bind("halted", block.halted()));
  }

  @Override
  public void lower(Handle handle, List<Key> keys) {
    keys(handle, sql.lower, keys);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    keys(handle, sql.free, keys);
    keys(handle, sql.advance, keys);
  }

  private static void keys(Handle handle, String sql, Collection<Key> keys) {
    batch(
        handle,
        sql,
        keys,
        (batch, key) ->
            batch.bind("bucket", key.bucket()).bind("key", key.key()).bind("seq", key.sequence()));
  }

  private interface Binder<R> {
    PreparedBatch bind(PreparedBatch batch, R row);
  }

  private static <R> int[] batch(Handle handle, String sql, Collection<R> rows, Binder<R> binder) {
    if (rows.isEmpty()) {
      return new int[0];
    }
    try (PreparedBatch batch = handle.prepareBatch(sql)) {
      rows.forEach(row -> binder.bind(batch, row).add());
      return batch.execute();
    }
  }

  @Override
  public List<DeadLetter> deadLetters(Handle handle, long afterSequence, int limit) {
    return handle
        .createQuery(sql.deadLetters)
        .bind("after", afterSequence)
        .bind("limit", limit)
        .map(
            (rows, context) ->
                new DeadLetter(
                    Rows.message(rows),
                    rows.getString("last_error"),
                    Rows.instant(rows.getObject("last_failed_at", OffsetDateTime.class))))
        .list();
  }

  private record Dead(int bucket, String key) {}

  private @Nullable Dead lockDeadLetter(Handle handle, long sequence) {
    return handle
        .createQuery(sql.lockDeadLetter)
        .bind("seq", sequence)
        .map((rows, context) -> new Dead(rows.getInt("bucket"), rows.getString("key")))
        .findOne()
        .orElse(null);
  }

  private boolean unhalt(Handle handle, Dead dead, long sequence, long lowSeq) {
    return handle
            .createUpdate(sql.unhalt)
            .bind("bucket", dead.bucket())
            .bind("key", dead.key())
            .bind("seq", sequence)
            .bind("lowSeq", lowSeq)
            .execute()
        > 0;
  }

  @Override
  public boolean requeue(Handle handle, long sequence) {
    Dead dead = lockDeadLetter(handle, sequence);
    if (dead == null) {
      return false;
    }
    boolean unhalted = unhalt(handle, dead, sequence, sequence);
    handle
        .createUpdate(sql.requeue)
        .bind("bucket", dead.bucket())
        .bind("seq", sequence)
        .bind("unhalted", unhalted)
        .execute();
    return true;
  }

  @Override
  public boolean discard(Handle handle, long sequence) {
    Dead dead = lockDeadLetter(handle, sequence);
    if (dead == null) {
      return false;
    }
    unhalt(handle, dead, sequence, Long.MAX_VALUE);
    handle
        .createUpdate(sql.deleteMessage)
        .bind("bucket", dead.bucket())
        .bind("seq", sequence)
        .execute();
    return true;
  }

  @Override
  public Statistics statistics(Handle handle) {
    return handle
        .createQuery(sql.statistics)
        .map(
            (rows, context) ->
                new Statistics(
                    rows.getLong("pending"),
                    rows.getLong("scheduled"),
                    rows.getLong("blocked"),
                    rows.getLong("dead"),
                    rows.getLong("blocked_keys"),
                    rows.getLong("halted_keys"),
                    rows.getObject("oldest_millis") == null
                        ? null
                        : Duration.ofMillis(rows.getLong("oldest_millis"))))
        .one();
  }

  @Override
  public void freeHaltedByNothing(Handle handle) {
    handle.createUpdate(sql.freeHaltedByNothing).execute();
  }

  @Override
  public boolean restore(Handle handle) {
    boolean missing = handle.createUpdate(sql.restoreBuckets).execute() > 0;
    if (missing) {
      handle.createUpdate(sql.restoreBlockedKeys).execute();
    }
    return handle.createUpdate(sql.forgetMarksBeyondSequence).execute() > 0 || missing;
  }

  @Override
  public void forgetMark(Handle handle, int bucket) {
    handle.createUpdate(sql.forgetMark).bind("bucket", bucket).execute();
  }

  @Override
  public void catchUpSequence(Handle handle) {
    if (handle.createQuery(sql.sequenceLags).mapTo(Boolean.class).findOne().isPresent()) {
      handle.execute(sql.lockSequence);
      handle.execute(sql.catchUpSequence);
      handle.createUpdate(sql.forgetMarks).execute();
    }
  }

  @Override
  public int purgeDedup(Handle handle, Duration window) {
    return handle
        .createUpdate(sql.purgeDedup)
        .bind("windowMillis", window.toMillis())
        .bind("most", PURGE)
        .execute();
  }
}
