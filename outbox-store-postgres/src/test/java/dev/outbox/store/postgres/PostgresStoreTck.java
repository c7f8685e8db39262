package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.CountsWork;
import dev.outbox.tck.DedupWindows;
import dev.outbox.tck.FindsPoison;
import dev.outbox.tck.KillsServer;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.OutboxStoreTck;
import dev.outbox.tck.RawRows;
import dev.outbox.tck.ReadOnlyTransactions;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.StalledClients;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/** The TCK on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class PostgresStoreTck extends OutboxStoreTck<Connection>
    implements AutoCommit<Connection>,
        ReadOnlyTransactions<Connection>,
        DedupWindows<Connection>,
        RawRows<Connection>,
        CountsWork<Connection>,
        FindsPoison,
        SchemaFixture,
        MovesClock,
        KillsServer<Connection>,
        StalledClients {
  private DatabaseServer server;
  private Database database;
  private Database oneConnection;
  private Stalling stalling;

  @BeforeAll
  void start() {
    server = DatabaseServer.postgres();
    database = new Database(server, this::configure);
    stalling = new Stalling(database.pool);
    store(database.pool).migrate();
    oneConnection = database.withOneConnection();
  }

  @AfterAll
  void stop() throws Exception {
    if (database != null) {
      oneConnection.pool.close();
      database.close();
    }
    if (server != null) {
      server.close();
    }
  }

  /** The pool's settings; a variant changes them. */
  protected void configure(HikariConfig config) {}

  /** The prefix of the tables' names; a variant changes it. */
  protected String prefix() {
    return "outbox_";
  }

  private PostgresOutboxStore store(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource).prefix(prefix()).build();
  }

  /** Runs statements that name the tables with the default prefix. */
  private void execute(String sql) {
    database.execute(named(sql));
  }

  private String named(String sql) {
    return sql.replace("outbox_", prefix());
  }

  @Override
  protected OutboxStore<Connection> createStore() {
    return store(stalling.dataSource());
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database.inTransaction(false, work);
  }

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    database.inTransaction(true, work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(true);
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public OutboxStore<Connection> createStore(Duration dedupWindow) {
    return PostgresOutboxStore.builder(database.pool)
        .prefix(prefix())
        .dedupWindow(dedupWindow)
        .build();
  }

  @Override
  public void insertRaw(Connection transaction, RawRow row) {
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("id", row.id());
    columns.put("aggregate_type", row.aggregateType());
    columns.put("aggregate_id", row.aggregateId());
    columns.put("event_type", row.eventType());
    columns.put("payload", row.payload());
    columns.put("partition_key", row.partitionKey());
    columns.put(
        "available_at",
        row.availableAt() == null ? null : row.availableAt().atOffset(ZoneOffset.UTC));
    columns.values().removeIf(Objects::isNull);
    insert(transaction, columns);
  }

  @Override
  public void insertUndecodable(Connection transaction, String key) {
    RawRow row = RawRow.of(key);
    insertRaw(transaction, row);
    try (PreparedStatement statement =
        transaction.prepareStatement(
            named("update outbox_message set headers = '[1]' where id = ?"))) {
      statement.setObject(1, row.id());
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void insert(Connection transaction, Map<String, Object> columns) {
    String sql =
        "insert into outbox_message (%s) values (%s)"
            .formatted(
                String.join(", ", columns.keySet()),
                String.join(", ", Collections.nCopies(columns.size(), "?")));
    try (PreparedStatement statement = transaction.prepareStatement(named(sql))) {
      int i = 0;
      for (Object value : columns.values()) {
        statement.setObject(++i, value);
      }
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void reset() {
    execute("truncate outbox_message, outbox_blocked_key, outbox_dedup");
    execute(
        "update outbox_bucket set owner = null, leased_at = null, lease_until = null, takeovers = 0, singles = 0");
  }

  @Override
  public Counted countedClaim(OutboxStore<Connection> store, ClaimRequest request) {
    PostgresOutboxStore counted = store(oneConnection.pool);
    counted.verify();
    AtomicReference<Claim> claim = new AtomicReference<>();
    long pages = new Pages(oneConnection).during(() -> claim.set(counted.claim(request)));
    return new Counted(claim.get(), pages);
  }

  @Override
  public void backlogBuilt() {
    execute("vacuum analyze outbox_message, outbox_blocked_key");
  }

  @Override
  public void dropSchema() {
    database.execute("drop schema %1$s cascade; create schema %1$s".formatted(database.schema()));
  }

  @Override
  public void makeSchemaOlder() {
    execute("update outbox_schema set version = version - 1");
  }

  @Override
  public void makeSchemaNewer() {
    execute("update outbox_schema set version = version + 1");
  }

  @Override
  public void emptyInternalRows() {
    execute("truncate outbox_bucket, outbox_blocked_key");
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    store(database.pool).migrate();
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    String shift = "- interval '%d milliseconds'".formatted(by.toMillis());
    execute(
        """
        update outbox_bucket set leased_at = leased_at %1$s, lease_until = lease_until %1$s, served_at = served_at %1$s;
        update outbox_blocked_key set retry_at = retry_at %1$s;
        update outbox_message set available_at = available_at %1$s, created_at = created_at %1$s;
        update outbox_dedup set created_at = created_at %1$s
        """
            .formatted(shift));
  }

  @Override
  public void inRelaxedTransaction(Consumer<Connection> work) {
    database.inTransaction(
        false,
        connection -> {
          try (Statement statement = connection.createStatement()) {
            statement.execute("set local synchronous_commit = off");
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
          work.accept(connection);
        });
  }

  @Override
  public void killServer() {
    EmbeddedServer embedded =
        server
            .embedded()
            .orElseThrow(
                () -> new TestAbortedException("skipped: only the embedded server can be killed"));
    embedded.kill();
    embedded.restart();
    database.forgetConnections();
    oneConnection.forgetConnections();
  }

  @Override
  public AutoCloseable stopInClaim(ClaimRequest request) {
    OutboxStore<Connection> store = createStore();
    return stalling.stopAt("any_blocked", () -> store.claim(request));
  }

  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    return stalling.stopAt("set\n  owner = null", () -> claim.settle(decisions));
  }
}
