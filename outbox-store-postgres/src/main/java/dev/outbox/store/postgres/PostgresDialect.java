package dev.outbox.store.postgres;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Mark;
import dev.outbox.store.core.Names;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Served;
import dev.outbox.store.jdbc.Sql;
import dev.outbox.store.jdbc.StatementDialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** PostgreSQL's statements, types and error numbers. */
final class PostgresDialect extends StatementDialect {
  private final PostgresStatements sql;
  private final StalledClients stalled;
  private final Pooler pooler;
  private final Append append;
  private final StallGuard stallGuard = new StallGuard();

  PostgresDialect(Names names, Pooler pooler) {
    this(new PostgresStatements(names), new StalledClients(names), pooler);
  }

  private PostgresDialect(PostgresStatements sql, StalledClients stalled, Pooler pooler) {
    super(sql.all);
    this.sql = sql;
    this.stalled = stalled;
    this.pooler = pooler;
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
      case "42501" -> Trouble.FORBIDDEN;
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
  public @Nullable String advice(SQLException failure) {
    if (Pooler.isMixedUp(failure)) {
      return "is there a pooler between, as PgBouncer in transaction mode? then " + Pooler.REMEDY;
    }
    // Wrong syntax: of our statements only the names are not ours.
    return "42601".equals(failure.getSQLState())
        ? "is the schema's name a reserved word? then choose another"
        : null;
  }

  @Override
  public void configure(Jdbi jdbi) {
    jdbi.registerArrayType(UUID.class, "uuid");
  }

  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    stallGuard.begin(connection, patience);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    pooler.check(connection);
    try (PreparedStatement statement = connection.prepareStatement(text(Sql.SCHEMA_VERSION));
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
    pooler.check(connection);
    return append.append(connection, messages, dedupWindow);
  }

  @Override
  public List<Lease> lease(Handle handle, UUID owner, ClaimRequest request, int most) {
    return Served.inTurn(
        handle
            .createQuery(sql.lease)
            .bind("owner", owner)
            .bind("relay", request.owner())
            .bind("leaseMillis", request.lease().toMillis())
            .bind("mostMessages", request.maxMessages())
            .bind("most", most)
            .map((row, context) -> served(row, request))
            .list());
  }

  @Override
  protected Mark mark(ResultSet row) throws SQLException {
    return Mark.stored(
        row.getLong("low_water"),
        row.getLong("next_low_water"),
        row.getLong("next_low_water_txid"),
        row.getString("low_water_history"));
  }

  @Override
  public List<Held> lockHeld(Handle handle, UUID owner, Collection<Lease> leases) {
    return handle
        .createQuery(sql.lockHeld)
        .bind("owner", owner)
        .bindArray("buckets", Integer.class, leases.stream().map(Lease::bucket).toList())
        .bindArray("tokens", Long.class, leases.stream().map(Lease::token).toList())
        .bindArray("lowWater", Long.class, lowWater(leases))
        .map((row, context) -> held(row))
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
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return leased(handle, sql.readBlocked, leases, lease -> lease.single() ? 1 : limits.messages())
        .bind("bytes", limits.bytes())
        .map((row, context) -> blocked(row))
        .list();
  }

  @Override
  protected Query read(
      Handle handle, Sql read, List<Lease> leases, ToIntFunction<Lease> most, long bytes) {
    return leased(handle, text(read), leases, most).bind("bytes", bytes);
  }

  @Override
  protected Query sizes(Handle handle, Sql sizes, List<Lease> leases, ToIntFunction<Lease> most) {
    return leased(handle, text(sizes), leases, most);
  }

  private static Query leased(
      Handle handle, String sql, List<Lease> leases, ToIntFunction<Lease> most) {
    return handle
        .createQuery(sql)
        .bindArray("buckets", Integer.class, leases.stream().map(Lease::bucket).toList())
        .bindArray("lowWater", Long.class, lowWater(leases))
        .bindArray("most", Integer.class, leases.stream().mapToInt(most).boxed().toList());
  }

  private static List<Long> lowWater(Collection<Lease> leases) {
    return leases.stream().map(lease -> lease.mark().low()).toList();
  }

  /** One statement a bucket, in one round trip: each is a plain look-up by the primary key. */
  @Override
  protected void forRows(Handle handle, String sql, Collection<Row> rows, Map<String, ?> more) {
    Map<Integer, List<Row>> byBucket =
        rows.stream()
            .collect(Collectors.groupingBy(Row::bucket, TreeMap::new, Collectors.toList()));
    batch(
        handle,
        sql,
        byBucket.entrySet(),
        (batch, bucket) ->
            batch
                .bind("bucket", bucket.getKey())
                .bindArray(
                    "seqs", Long.class, bucket.getValue().stream().map(Row::sequence).toList())
                .bindArray("ids", UUID.class, bucket.getValue().stream().map(Row::id).toList())
                .bindMap(more));
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    forKeys(handle, sql.free, keys);
    forKeys(handle, sql.advance, keys);
  }

  /** Counts all rows: the one statement that is meant to scan the table. */
  @Override
  public Statistics statistics(Handle handle) {
    handle.execute("set local enable_seqscan = on");
    return super.statistics(handle);
  }

  @Override
  public void endStalled(Handle handle, Duration longerThan) {
    stalled.end(handle, longerThan);
  }

  @Override
  public List<String> warnings(Handle handle) {
    return OldTransactions.warnings(handle, OldTransactions.OLD);
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
  public boolean purgeDedup(Handle handle, Duration window) {
    return handle
            .createUpdate(sql.purgeDedup)
            .bind("windowMillis", window.toMillis())
            .bind("most", PURGE)
            .execute()
        == PURGE;
  }

  @Override
  protected Object id(UUID id) {
    return id;
  }

  @Override
  public UUID uuid(ResultSet rows, int column) throws SQLException {
    return rows.getObject(column, UUID.class);
  }

  @Override
  public @Nullable Instant instant(ResultSet rows, int column) throws SQLException {
    OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
