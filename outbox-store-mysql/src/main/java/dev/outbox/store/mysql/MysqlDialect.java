package dev.outbox.store.mysql;

import static java.nio.charset.StandardCharsets.UTF_8;
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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/** MySQL's and MariaDB's statements, types and error numbers. */
final class MysqlDialect extends StatementDialect {

  /** The rows of a list in one statement: enough for a batch, few enough for the optimizer. */
  private static final int MOST_ROWS = 1_000;

  private final Flavor flavor;
  private final MysqlStatements sql;
  private final Session session;
  private final Append append;
  private final BlockedMessages blockedMessages;

  MysqlDialect(Names names, Flavor flavor) {
    this(new MysqlStatements(names, flavor), flavor);
  }

  private MysqlDialect(MysqlStatements sql, Flavor flavor) {
    super(sql.all);
    this.flavor = flavor;
    this.sql = sql;
    session = new Session(flavor);
    append = new Append(sql);
    blockedMessages = new BlockedMessages(sql);
  }

  @Override
  public String name() {
    return flavor.title;
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/mysql/changelog.sql";
  }

  @Override
  public Map<String, String> changelogParameters() {
    return Map.of("collation", flavor.collation);
  }

  @Override
  public Trouble trouble(SQLException failure) {
    return Errors.trouble(failure);
  }

  /** Fewer than by default: the server plans each bucket's part of a read by itself. */
  @Override
  public int mostBuckets() {
    return 8;
  }

  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    session.begin(connection, patience);
  }

  @Override
  public void end(Connection connection) throws SQLException {
    session.end(connection);
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    checkServer(connection);
    return super.schemaVersion(connection);
  }

  private void checkServer(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement("select version()");
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      String server = rows.getString(1);
      if (server.contains("MariaDB") != (flavor == Flavor.MARIADB)) {
        throw new OutboxException(
            "the server is %s, and this is the store for %s: use %s"
                .formatted(server, flavor.title, flavor.other));
      }
    }
  }

  /** Unknown variable, unknown collation. */
  @Override
  public @Nullable String advice(SQLException failure) {
    return switch (failure.getErrorCode()) {
      case 1193, 1273 ->
          "the server is too old or not %s, in which case use %s"
              .formatted(flavor.title, flavor.other);
      default -> null;
    };
  }

  @Override
  public Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
      throws SQLException {
    return append.append(connection, messages, dedupWindow);
  }

  /** A bucket that is free and has work. */
  private record Candidate(int bucket, Instant servedAt) {}

  @Override
  public List<Lease> lease(Handle handle, UUID owner, ClaimRequest request, int most) {
    FairShare share = new FairShare(request.owner());
    List<Candidate> candidates = new ArrayList<>();
    handle
        .createQuery(sql.buckets)
        .map(
            (row, context) -> {
              if (row.getBoolean("leased")) {
                share.leased(row.getString("relay"));
              }
              if (row.getBoolean("has_work")) {
                share.free();
                candidates.add(candidate(row));
              }
              return row.getInt("bucket");
            })
        .list();
    candidates.sort(Comparator.comparing(Candidate::servedAt).thenComparing(Candidate::bucket));
    return take(handle, owner, request, candidates, share.of(most));
  }

  private Candidate candidate(ResultSet row) throws SQLException {
    return new Candidate(
        row.getInt("bucket"), requireNonNull(instant(row, row.findColumn("served_at"))));
  }

  /** Locks buckets, longest unserved first, until there are enough or none is left to try. */
  private List<Lease> take(
      Handle handle, UUID owner, ClaimRequest request, List<Candidate> candidates, int share) {
    List<Locked> locked = Served.upTo(share, candidates, some -> lockFree(handle, request, some));
    if (!locked.isEmpty()) {
      handle
          .createUpdate(sql.take)
          .bind("rows", JsonRows.of(locked, Locked::columns))
          .bind("owner", owner.toString())
          .bind("relay", request.owner())
          .bind("leaseMillis", request.lease().toMillis())
          .execute();
    }
    return Served.inTurn(locked.stream().map(Locked::served).toList());
  }

  /** A free bucket that is locked now, with what its row will have. */
  private record Locked(Served served, int singles, int takeovers) {
    List<?> columns() {
      return List.of(served.lease().bucket(), served.lease().token(), singles, takeovers);
    }
  }

  private List<Locked> lockFree(Handle handle, ClaimRequest request, List<Candidate> wanted) {
    String buckets = join(wanted, ", ", Candidate::bucket);
    return Literal.query(handle, sql.lockFree.replace("${buckets}", buckets))
        .bind(0, request.maxMessages())
        .map(
            (row, context) ->
                new Locked(served(row, request), row.getInt("singles"), row.getInt("takeovers")))
        .list();
  }

  @Override
  public List<Held> lockHeld(Handle handle, UUID owner, Collection<Lease> leases) {
    String tokens =
        join(
            leases, " or ", l -> "b.bucket = %d and b.token = %d".formatted(l.bucket(), l.token()));
    return Literal.query(handle, sql.lockHeld.replace("${tokens}", tokens))
        .bind(0, owner.toString())
        .map((row, context) -> held(row))
        .list();
  }

  @Override
  public Set<Integer> renew(Handle handle, UUID owner, Collection<Lease> leases, Duration lease) {
    List<Integer> held = lockHeld(handle, owner, leases).stream().map(Held::bucket).toList();
    if (!held.isEmpty()) {
      handle
          .createUpdate(text(Sql.RENEW))
          .bind("rows", JsonRows.of(held, List::of))
          .bind("leaseMillis", lease.toMillis())
          .execute();
    }
    return Set.copyOf(held);
  }

  @Override
  public void release(Handle handle, UUID owner, List<Release> releases) {
    handle
        .createUpdate(sql.release)
        .bind(
            "rows",
            JsonRows.of(
                releases,
                r -> List.of(r.lease().bucket(), r.decided(), r.settled(), r.keepsTurn())))
        .bind("owner", owner.toString())
        .execute();
  }

  /**
   * Whether a bucket has blocked keys is asked before, not in the statement that locked it: that
   * one may have begun before the last holder's settle was committed.
   */
  @Override
  protected Query read(
      Handle handle, Sql read, List<Lease> leases, ToIntFunction<Lease> most, long bytes) {
    Set<Integer> withBlockedKeys =
        Literal.query(
                handle,
                sql.withBlockedKeys.replace("${buckets}", join(leases, ", ", Lease::bucket)))
            .mapTo(Integer.class)
            .set();
    return Literal.query(
        handle,
        join(
            leases,
            " union all ",
            lease ->
                text(read)
                    .replace(
                        "${blocked}",
                        withBlockedKeys.contains(lease.bucket()) ? sql.keyBlocked : "")
                    .replace("${bucket}", Integer.toString(lease.bucket()))
                    .replace("${most}", Integer.toString(most.applyAsInt(lease)))
                    .replace("${bytes}", Long.toString(bytes))));
  }

  private static <T> String join(Collection<T> values, String separator, Function<T, ?> part) {
    return values.stream().map(part).map(String::valueOf).collect(Collectors.joining(separator));
  }

  @Override
  protected Query sizes(Handle handle, Sql sizes, List<Lease> leases, ToIntFunction<Lease> most) {
    return read(handle, sizes, leases, most, 0);
  }

  @Override
  public List<Row> readBlocked(Handle handle, List<Lease> leases, Limits limits) {
    return blockedMessages.read(handle, leases, limits, this::blocked);
  }

  @Override
  protected void forRows(
      Handle handle, String statement, Collection<Row> rows, Map<String, ?> more) {
    Predicate<Row> pending = row -> row.status() == Status.PENDING;
    execute(handle, statement, rows.stream().filter(pending).toList(), more);
    execute(
        handle,
        sql.whateverStatus(statement),
        rows.stream().filter(pending.negate()).toList(),
        more);
  }

  private static void execute(
      Handle handle, String statement, List<Row> rows, Map<String, ?> more) {
    for (int from = 0; from < rows.size(); from += MOST_ROWS) {
      List<Row> some = rows.subList(from, Math.min(rows.size(), from + MOST_ROWS));
      handle
          .createUpdate(statement)
          .bind(
              "rows",
              JsonRows.of(
                  some, row -> List.of(row.bucket(), row.sequence(), requireNonNull(row.id()))))
          .bindMap(more)
          .execute();
    }
  }

  @Override
  public void advance(Handle handle, Collection<Key> keys) {
    List<Key> empty =
        handle
            .createQuery(sql.emptyKeys)
            .bind("rows", rows(keys))
            .map((row, context) -> new Key(row.getInt("bucket"), row.getString("name"), 0))
            .list();
    if (!empty.isEmpty()) {
      handle.createUpdate(sql.free).bind("rows", rows(empty)).execute();
    }
    if (empty.size() < keys.size()) {
      handle.createUpdate(sql.advance).bind("rows", rows(keys)).execute();
    }
  }

  private static String rows(Collection<Key> keys) {
    return JsonRows.of(
        keys.stream().sorted(Comparator.comparing(Key::bucket).thenComparing(Key::key)).toList(),
        key -> List.of(key.bucket(), hex(key.key())));
  }

  /** As the statements take texts in lists. */
  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(UTF_8));
  }

  @Override
  public boolean purgeDedup(Handle handle, Duration window) {
    List<String> old =
        handle
            .createQuery(sql.oldDedupKeys)
            .bind("windowMillis", window.toMillis())
            .bind("most", PURGE)
            .mapTo(String.class)
            .list();
    if (!old.isEmpty()) {
      handle
          .createUpdate(sql.purgeDedup)
          .bind("rows", JsonRows.of(old, key -> List.of(hex(key))))
          .execute();
    }
    return old.size() == PURGE;
  }
}
