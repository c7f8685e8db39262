package dev.outbox.store.sqlserver;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.core.FairShare;
import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Names;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Served;
import dev.outbox.store.core.Status;
import dev.outbox.store.jdbc.JsonRows;
import dev.outbox.store.jdbc.Sql;
import dev.outbox.store.jdbc.StatementDialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jspecify.annotations.Nullable;

/** SQL Server's statements and types. */
final class SqlServerDialect extends StatementDialect {

  /** The longest that any statement waits, as for a lock that a stalled client holds. */
  private static final int WAIT_SECONDS = 30;

  private static final int MAX_RELAY = 255;

  /** DATEADD has room for 68 years of seconds, and no dedup key is older. */
  private static final Duration MAX_WINDOW = Duration.ofDays(60 * 365);

  private final SqlServerStatements sql;
  private final Append append;

  SqlServerDialect(Names names) {
    this(new SqlServerStatements(names));
  }

  private SqlServerDialect(SqlServerStatements sql) {
    super(sql.all);
    this.sql = sql;
    append = new Append(sql);
  }

  @Override
  public String name() {
    return "SQL Server";
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/sqlserver/changelog.sql";
  }

  @Override
  public Trouble trouble(SQLException failure) {
    return Errors.trouble(failure);
  }

  @Override
  public @Nullable String advice(SQLException failure) {
    return Errors.advice(failure);
  }

  @Override
  public void configure(Jdbi jdbi) {
    jdbi.registerArgument(new UnicodeArguments());
    jdbi.getConfig(SqlStatements.class).setQueryTimeout(WAIT_SECONDS);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text(Sql.SCHEMA_VERSION));
        ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return 0;
      }
      if (row.getInt("no_count") != 0) {
        throw new OutboxException(
            "the session has NOCOUNT on, so that nobody learns what a statement changed: take it out of the server's 'user options', or set it off on each connection");
      }
      return row.getInt("version");
    }
  }

  /** The isolation level is the session's and stays: the driver knows what it was. */
  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("set transaction isolation level read committed");
      }
    }
  }

  @Override
  public void end(Connection connection) throws SQLException {
    int level = connection.getTransactionIsolation();
    if (level != Connection.TRANSACTION_READ_COMMITTED) {
      connection.setTransactionIsolation(level);
    }
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    return append.append(connection, messages, clamped(dedupWindow));
  }

  private static Duration clamped(Duration window) {
    return window.compareTo(MAX_WINDOW) > 0 ? MAX_WINDOW : window;
  }

  /** Chooses without locks, then tries each by itself until there are enough. */
  @Override
  public List<Lease> lease(Handle handle, UUID owner, ClaimRequest request, int most) {
    FairShare share = new FairShare(relay(request));
    List<Integer> free = new ArrayList<>();
    for (Bucket bucket : buckets(handle)) {
      if (bucket.hasWork()) {
        share.free();
        free.add(bucket.number());
      } else if (bucket.leasedBy() != null) {
        share.leased(bucket.leasedBy());
      }
    }
    List<Integer> leased =
        Served.upTo(share.of(most), free, some -> lease(handle, owner, request, some));
    return leased.isEmpty() ? List.of() : leased(handle, owner, request, Set.copyOf(leased));
  }

  /**
   * A bucket as it stands.
   *
   * @param hasWork and is free
   * @param leasedBy the worker, while its lease lasts
   */
  private record Bucket(int number, boolean hasWork, @Nullable String leasedBy) {}

  private List<Bucket> buckets(Handle handle) {
    return handle
        .createQuery(sql.buckets)
        .map(
            (row, context) ->
                new Bucket(
                    row.getInt("bucket"),
                    row.getBoolean("free")
                        && (row.getBoolean("pending")
                            || row.getBoolean("scheduled")
                            || row.getBoolean("blocked")),
                    row.getString("leased_by")))
        .list();
  }

  private Set<Integer> lease(
      Handle handle, UUID owner, ClaimRequest request, List<Integer> buckets) {
    return Set.copyOf(
        changed(
            handle,
            sql.lease,
            buckets,
            (batch, bucket) ->
                batch
                    .bind("bucket", bucket)
                    .bind("owner", id(owner))
                    .bind("relay", relay(request))
                    .bind("leaseMillis", request.lease().toMillis())
                    .bind("mostMessages", request.maxMessages())));
  }

  private List<Lease> leased(
      Handle handle, UUID owner, ClaimRequest request, Set<Integer> buckets) {
    return Served.inTurn(
        handle
            .createQuery(sql.leased)
            .bind("owner", id(owner))
            .map((row, context) -> served(row, request))
            .filter(served -> buckets.contains(served.lease().bucket()))
            .list());
  }

  private static String relay(ClaimRequest request) {
    String name = request.owner();
    return name.length() > MAX_RELAY ? name.substring(0, MAX_RELAY) : name;
  }

  @Override
  public List<Held> lockHeld(Handle handle, UUID owner, Collection<Lease> leases) {
    List<Lease> ascending = leases.stream().sorted(Comparator.comparingInt(Lease::bucket)).toList();
    Set<Integer> locked =
        changed(
                handle,
                sql.lock,
                ascending,
                (batch, lease) ->
                    batch
                        .bind("bucket", lease.bucket())
                        .bind("owner", id(owner))
                        .bind("token", lease.token()))
            .stream()
            .map(Lease::bucket)
            .collect(Collectors.toSet());
    if (locked.isEmpty()) {
      return List.of();
    }
    return handle
        .createQuery(sql.locked)
        .bind("owner", id(owner))
        .map((row, context) -> held(row))
        .filter(held -> locked.contains(held.bucket()))
        .list();
  }

  @Override
  public void release(Handle handle, UUID owner, List<Release> releases) {
    batch(
        handle,
        sql.release,
        releases,
        (batch, release) ->
            batch
                .bind("bucket", release.lease().bucket())
                .bind("owner", id(owner))
                .bind("decided", release.decided())
                .bind("settled", release.settled())
                .bind("keepsTurn", release.keepsTurn()));
  }

  @Override
  protected Query read(
      Handle handle, Sql read, List<Lease> leases, ToIntFunction<Lease> most, long bytes) {
    return query(handle, read, leases, most).bind("bytes", bytes);
  }

  @Override
  protected Query sizes(Handle handle, Sql sizes, List<Lease> leases, ToIntFunction<Lease> most) {
    return query(handle, sizes, leases, most);
  }

  private Query query(Handle handle, Sql read, List<Lease> leases, ToIntFunction<Lease> most) {
    return handle.createQuery(text(read)).bind("buckets", buckets(leases, most));
  }

  private static String buckets(List<Lease> leases, ToIntFunction<Lease> most) {
    return JsonRows.of(leases, lease -> List.of(lease.bucket(), most.applyAsInt(lease)));
  }

  private static ToIntFunction<Lease> most(Limits limits) {
    return lease -> lease.single() ? 1 : limits.messages();
  }

  @Override
  public Pending readPending(Handle handle, List<Lease> leases, Limits limits) {
    Set<Long> first =
        handle
            .createQuery(sql.firstPending)
            .bind("buckets", buckets(leases, most(limits)))
            .map((row, context) -> row.getLong("seq"))
            .collect(Collectors.toSet());
    if (first.isEmpty()) {
      return new Pending(List.of(), 0);
    }
    Pending second = super.readPending(handle, leases, limits);
    return new Pending(TwoReads.together(first, second.rows()), second.horizon());
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return handle
        .createQuery(sql.readBlocked)
        .bind("buckets", buckets(leases, most(limits)))
        .bind("bytes", limits.bytes())
        .map((row, context) -> blocked(row))
        .list();
  }

  /**
   * Where in its bucket a row stands.
   *
   * @param key of BLOCKED messages
   */
  private record Place(Status status, @Nullable String key) {
    static Place of(Row row) {
      return new Place(row.status(), row.status() == Status.BLOCKED ? row.key() : null);
    }

    byte[] bytes() {
      return key == null ? new byte[1] : Hash.of(key);
    }
  }

  /** One statement a place, in one round trip. */
  @Override
  protected void forRows(Handle handle, String sql, Collection<Row> rows, Map<String, ?> more) {
    Map<Place, List<Row>> places =
        rows.stream()
            .collect(Collectors.groupingBy(Place::of, LinkedHashMap::new, Collectors.toList()));
    batch(
        handle,
        sql,
        places.entrySet(),
        (batch, place) ->
            batch
                .bind("was", place.getKey().status().name())
                .bind("place", place.getKey().bytes())
                .bind(
                    "messages",
                    JsonRows.of(
                        place.getValue(),
                        row -> List.of(row.bucket(), row.sequence(), requireNonNull(row.id()))))
                .bindMap(more));
  }

  @Override
  protected PreparedBatch bind(PreparedBatch batch, Failure failure) {
    return super.bind(batch, failure)
        .bind("was", failure.row().status().name())
        .bind("place", Place.of(failure.row()).bytes());
  }

  /** Only the holder of the bucket adds keys, so what was not there to change can be inserted. */
  @Override
  public void block(Handle handle, List<Block> blocks) {
    List<Block> added = new ArrayList<>(blocks);
    added.removeAll(changed(handle, text(Sql.BLOCK), blocks, StatementDialect::bind));
    batch(handle, sql.insertBlocked, added, StatementDialect::bind);
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    forKeys(handle, sql.free, keys);
    forKeys(handle, sql.advance, keys);
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    return handle
            .createUpdate(sql.purgeDedup)
            .bind("most", PURGE)
            .bind("windowMillis", -clamped(window).toMillis())
            .execute()
        == PURGE;
  }
}
