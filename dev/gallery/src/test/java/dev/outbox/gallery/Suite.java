package dev.outbox.gallery;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.ClientClocks;
import dev.outbox.tck.CountsWork;
import dev.outbox.tck.DedupWindows;
import dev.outbox.tck.FaultyConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.OutboxStoreProperties;
import dev.outbox.tck.OutboxStoreTck;
import dev.outbox.tck.RawRows;
import dev.outbox.tck.RestartsSequences;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** The suite over a store of the gallery. It is run by {@link GalleryTest}, which says on which. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class Suite extends OutboxStoreTck<Connection>
    implements AutoCommit<Connection>,
        RawRows<Connection>,
        DedupWindows<Connection>,
        MovesClock,
        LosesReplies,
        BreaksConnections,
        ClientClocks<Connection>,
        RestartsSequences,
        CountsWork<Connection> {

  /** Makes a store of the gallery. */
  interface Maker {
    PlainStore make(DataSource dataSource, Duration dedupWindow, Clock clientClock);
  }

  private static final Duration WINDOW = Duration.ofDays(7);

  static Maker maker;
  static DatabaseServer server;

  private final String schema = "gallery_" + UUID.randomUUID().toString().substring(0, 8);
  private HikariDataSource pool;
  private HikariDataSource oneConnection;
  private final FaultyConnections faults = new FaultyConnections();

  @BeforeAll
  void createTables() {
    pool = pool(24);
    oneConnection = pool(1);
    execute("create schema " + schema);
    maker.make(pool, WINDOW, Clock.systemUTC()).migrate();
  }

  @AfterAll
  void dropTables() {
    pool.close(); // and with it what a store may have left open
    pool = oneConnection;
    execute("drop schema " + schema + " cascade");
    oneConnection.close();
  }

  private HikariDataSource pool(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.addDataSourceProperty("currentSchema", schema);
    return new HikariDataSource(config);
  }

  private void execute(String... statements) {
    withoutTransaction(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
              statement.execute(sql);
            }
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** Each build asks whether a simple store passes, not how it bears a load. */
  @Override
  protected int load() {
    return Boolean.getBoolean("gallery.full") ? super.load() : 500;
  }

  @Override
  protected OutboxStore<Connection> createStore() {
    return createStore(WINDOW);
  }

  @Override
  public OutboxStore<Connection> createStore(Duration dedupWindow) {
    return maker.make(faults.of(pool), dedupWindow, Clock.systemUTC());
  }

  @Override
  public OutboxStore<Connection> createStore(Clock clientClock) {
    return maker.make(pool, WINDOW, clientClock);
  }

  @Override
  public void losingTheReply(Runnable work) {
    faults.losingTheReply(work);
  }

  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    return faults.breakingAtWrite(write, work);
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try {
        work.accept(connection);
        connection.commit();
      } finally {
        connection.rollback(); // does nothing after the commit
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = pool.getConnection()) {
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void reset() {
    execute("truncate outbox_message, outbox_key, outbox_dedup");
  }

  @Override
  public void restartSequences() {
    execute("truncate outbox_message", "alter sequence outbox_number restart");
  }

  @Override
  public void insertRaw(Connection connection, RawRow row) {
    try {
      PlainStore.update(
          connection,
          """
          insert into outbox_message
            (id, aggregate_type, aggregate_id, event_type, payload, partition_key, available_at)
          values (?, ?, ?, ?, ?, ?, ?)
          """,
          row.id(),
          row.aggregateType(),
          row.aggregateId(),
          row.eventType(),
          row.payload(),
          row.partitionKey(),
          row.availableAt());
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void insertUndecodable(Connection connection, RawRow row) {
    insertRaw(connection, row);
    try {
      PlainStore.update(
          connection, "update outbox_message set headers = '[1]' where id = ?", row.id());
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    String changes =
        """
        select format('update %I set ', table_name)
          || string_agg(format('%1$I = %1$I - %2$L::interval', column_name, ?::text), ', ')
        from information_schema.columns
        where table_schema = ? and data_type = 'timestamp with time zone'
        group by table_name
        """;
    String time = by.toSeconds() + " seconds";
    withoutTransaction(
        connection -> {
          try {
            for (String change :
                PlainStore.query(connection, changes, row -> row.getString(1), time, schema)) {
              PlainStore.update(connection, change);
            }
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  @Override
  public void backlogBuilt() {
    execute("vacuum analyze outbox_message, outbox_key");
  }

  @Override
  public <R> Counted<R> counted(
      OutboxStore<Connection> store, Function<OutboxStore<Connection>, R> work) {
    PlainStore counted = maker.make(oneConnection, WINDOW, Clock.systemUTC());
    assumeTrue(counted.isFast(), "the store does not say that it keeps C5");
    long before = rowsRead();
    R result = work.apply(counted);
    return new Counted<>(result, rowsRead() - before);
  }

  /** By the one connection, which hands in its counts when it is asked to. */
  private long rowsRead() {
    try (Connection connection = oneConnection.getConnection()) {
      PlainStore.query(connection, "select pg_stat_force_next_flush()", row -> true);
      return PlainStore.query(
              connection,
              """
              select (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = ?)
                + (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = ?)
              """,
              row -> row.getLong(1),
              schema,
              schema)
          .get(0);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {
    Properties() {
      super(Suite.this);
    }
  }
}
