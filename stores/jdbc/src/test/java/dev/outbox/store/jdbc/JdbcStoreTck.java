package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.Archive;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.store.Archives;
import dev.outbox.tck.store.CountsWork;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.JdbcOutboxStoreTck;
import dev.outbox.tck.store.KillsServer;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.RestartsSequences;
import dev.outbox.tck.store.StalledClients;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.opentest4j.TestAbortedException;

/**
 * The TCK on a relational database; a store of ours adds its server, its statements and its tricks.
 * Statements name the tables with the default prefix.
 */
public abstract class JdbcStoreTck extends JdbcOutboxStoreTck
    implements Archives<Connection>,
        DedupWindows<Connection>,
        RawRows<Connection>,
        CountsWork<Connection>,
        ExpiresMessages,
        FindsPoison,
        SchemaFixture,
        MovesClock,
        KillsServer<Connection>,
        RestartsSequences,
        StalledClients {
  private final Started started = new Started();
  private TestDatabase oneConnection;
  private Stalling stalling;

  private final TestedStore tested;

  protected JdbcStoreTck(TestedStore tested) {
    this.tested = tested;
  }

  /** A server to run against. */
  public DatabaseServer server() {
    return tested.start();
  }

  /** A schema of its own. */
  public TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return tested.database(server, settings);
  }

  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return tested.builder(dataSource);
  }

  /** Those of the archive too. */
  @Override
  protected List<String> emptyMessages() {
    return Stream.concat(
            super.emptyMessages().stream(),
            Stream.of("delete from outbox_archive_message", "delete from outbox_archive_audit"))
        .toList();
  }

  /** Removes all messages and makes their sequence begin again. */
  protected String truncate() {
    return "truncate table outbox_message";
  }

  /** What an update of messages' times must add, where the database does not see to it itself. */
  protected String computed() {
    return "";
  }

  /** Brings the statistics up to date. */
  protected abstract List<String> analyze();

  /**
   * What a session has read of the outbox, in a unit of the database's choice.
   *
   * @param session has one connection
   */
  protected abstract LongSupplier workCounter(TestDatabase session);

  protected Object column(UUID id) {
    return id.toString();
  }

  protected Object column(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }

  /** The pool's settings; a variant changes them. */
  protected void configure(HikariConfig config) {}

  /** A variant changes it. */
  @Override
  protected String prefix() {
    return PrefixedNames.DEFAULT_PREFIX;
  }

  /** A statement that makes the commits of the transaction not wait for the disk, or "". */
  protected String relaxed() {
    return "";
  }

  @BeforeAll
  @Override
  protected void start() {
    if (started.start(this::server, server -> database(server, this::configure))) {
      stalling = new Stalling(database().pool);
      migrate();
      oneConnection = database().withOneConnection();
    }
  }

  @AfterAll
  void stop() {
    if (oneConnection != null) {
      oneConnection.pool.close();
    }
    started.close();
  }

  protected final TestDatabase database() {
    return started.database();
  }

  /** The outbox, and an archive beside it: stores that keep none use only the first. */
  private void migrate() {
    builder(database().pool).prefix(prefix()).archive(Archive.FULL).build().migrate();
  }

  @Override
  public OutboxStore<Connection> createStore(
      Archive archive, @Nullable Duration deadLetterRetention) {
    return builder(faulty())
        .prefix(prefix())
        .archive(archive)
        .deadLetterRetention(deadLetterRetention)
        .build();
  }

  @Override
  protected DataSource dataSource() {
    database(); // or there is no server
    return stalling.dataSource();
  }

  @Override
  protected JdbcOutboxStore createStore(DataSource dataSource) {
    return builder(dataSource).prefix(prefix()).build();
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database().inTransaction(false, work);
  }

  @Override
  public OutboxStore<Connection> createStore(Duration dedupWindow) {
    return builder(database().pool).prefix(prefix()).dedupWindow(dedupWindow).build();
  }

  @Override
  public void insertRaw(Connection transaction, RawRow row) {
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("id", column(row.id()));
    columns.put("aggregate_type", row.aggregateType());
    columns.put("aggregate_id", row.aggregateId());
    columns.put("event_type", row.eventType());
    columns.put("payload", row.payload());
    columns.put("partition_key", row.partitionKey());
    columns.put("available_at", row.availableAt() == null ? null : column(row.availableAt()));
    columns.values().removeIf(Objects::isNull);
    run(
        transaction,
        "insert into outbox_message (%s) values (%s)"
            .formatted(
                String.join(", ", columns.keySet()),
                String.join(", ", Collections.nCopies(columns.size(), "?"))),
        columns.values().toArray());
  }

  @Override
  public void insertUndecodable(Connection transaction, RawRow row) {
    insertRaw(transaction, row);
    run(transaction, "update outbox_message set headers = '[1]' where id = ?", column(row.id()));
  }

  private void run(String... statements) {
    execute(Stream.of(statements).map(this::named).toArray(String[]::new));
  }

  private void run(Connection transaction, String sql, Object... values) {
    try (PreparedStatement statement = transaction.prepareStatement(named(sql))) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public <R> Counted<R> counted(
      OutboxStore<Connection> store, Function<OutboxStore<Connection>, R> work) {
    JdbcOutboxStore counted = createStore(oneConnection.pool);
    counted.verify();
    LongSupplier counter = workCounter(oneConnection);
    long before = counter.getAsLong();
    R result = work.apply(counted);
    return new Counted<>(result, counter.getAsLong() - before);
  }

  @Override
  public void backlogBuilt() {
    run(analyze().toArray(String[]::new));
  }

  @Override
  public void dropSchema() {
    database().empty();
  }

  @Override
  public void makeSchemaOlder() {
    run("update outbox_schema set version = version - 1");
  }

  @Override
  public void makeSchemaNewer() {
    run("update outbox_schema set version = version + 1");
  }

  @Override
  public void emptyInternalRows() {
    run("delete from outbox_bucket", "delete from outbox_blocked_key");
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    migrate();
  }

  /**
   * The server's clock cannot be moved, but all times that are compared with it can. A message that
   * is due stays as it is when the clock moves on: a claim may have it, and know it by its time.
   */
  @Override
  public void moveClock(Duration by) {
    String which = by.isNegative() ? "" : " where available_at > " + tested.now();
    moveTimes(by, Map.of("message", List.of("available_at")), which);
    Map<String, List<String>> times =
        Map.of(
            "bucket", List.of("leased_at", "lease_until", "served_at"),
            "blocked_key", List.of("retry_at"),
            "message", List.of("created_at"),
            "dedup", List.of("created_at"));
    moveTimes(by, times, "");
  }

  private void moveTimes(Duration by, Map<String, List<String>> times, String which) {
    times.forEach(
        (table, columns) ->
            run(
                columns.stream()
                        .map(column -> column + " = " + tested.earlier(column, by.toMillis()))
                        .collect(Collectors.joining(", ", "update outbox_" + table + " set ", ""))
                    + (table.equals("message") ? computed() : "")
                    + which));
  }

  @Override
  public void inRelaxedTransaction(Consumer<Connection> work) {
    database()
        .inTransaction(
            false,
            connection -> {
              if (!relaxed().isEmpty()) {
                run(connection, relaxed());
              }
              work.accept(connection);
            });
  }

  @Override
  public void killServer() {
    EmbeddedServer embedded =
        started
            .server()
            .embedded()
            .orElseThrow(
                () -> new TestAbortedException("skipped: only the embedded server can be killed"));
    embedded.kill();
    embedded.restart();
    database().forgetConnections();
    oneConnection.forgetConnections();
  }

  @Override
  public void restartSequences() {
    run(truncate());
  }

  /** Before it reads messages: the buckets are locked. */
  @Override
  public AutoCloseable stopInClaim(Claim.Request request) {
    OutboxStore<Connection> store = createStore();
    return stalling.stopAt("as horizon", () -> store.claim(request));
  }

  /** Before it lets go: the decisions are carried out. */
  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    return stalling.stopAt("claim_id = null", () -> claim.settle(decisions));
  }
}
