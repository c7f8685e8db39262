package dev.outbox.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.benchmarks.Cost.ServerWork;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** PostgreSQL, in a schema with a name that nobody else uses. */
public final class PostgresDatabase implements BenchDatabase {
  private static final List<String> SETTINGS =
      List.of(
          "fsync",
          "synchronous_commit",
          "full_page_writes",
          "shared_buffers",
          "max_wal_size",
          "autovacuum");

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int FILL_AT_ONCE = 500_000;
  private static final int ROUND_TRIPS = 500;
  private static final int FIRST_WITH_FLUSH = 15;
  private static final String NOT_ALLOWED = "42501";

  private final String url;
  private final String user;
  private final String password;
  private final String schema;
  private final Connection admin;
  private final int version;
  private final List<BenchDatabase> siblings = new CopyOnWriteArrayList<>();
  private boolean mayCheckpoint = true;
  private volatile boolean closed;

  private PostgresDatabase(String url, String user, String password, String schema)
      throws SQLException {
    this.url = url;
    this.user = user;
    this.password = password;
    this.schema = schema;
    admin = connect("admin");
    version = admin.getMetaData().getDatabaseMajorVersion();
  }

  /**
   * Connects and makes the schema with all tables.
   *
   * @throws IllegalStateException when that is not possible, with what the database said
   */
  public static PostgresDatabase open(String url, String user, String password) {
    PostgresDatabase database = null;
    try {
      String schema = "outbox_bench_" + UUID.randomUUID().toString().substring(0, 8);
      database = new PostgresDatabase(url, user, password, schema);
      database.create();
      return database;
    } catch (SQLException | RuntimeException e) {
      if (database != null) {
        database.close();
      }
      throw new IllegalStateException("the tables could not be made: " + e.getMessage(), e);
    }
  }

  static PostgresDatabase attach(Properties address) {
    try {
      return new PostgresDatabase(
          address.getProperty("url"),
          address.getProperty("user"),
          address.getProperty("password"),
          address.getProperty("schema"));
    } catch (SQLException e) {
      throw failed("connect", e);
    }
  }

  @Override
  public Properties address() {
    Properties address = new Properties();
    address.putAll(Map.of("url", url, "user", user, "password", password, "schema", schema));
    return address;
  }

  private Connection connect(String role) throws SQLException {
    Properties properties = new Properties();
    if (!user.isEmpty()) {
      properties.setProperty("user", user);
    }
    if (!password.isEmpty()) {
      properties.setProperty("password", password);
    }
    properties.setProperty("ApplicationName", schema + "_" + role);
    return DriverManager.getConnection(url, properties);
  }

  private void create() {
    execute("create schema " + schema);
    try (HikariDataSource pool = pool(1)) {
      store(pool).migrate();
    }
    execute(PostgresLimit.table(schema));
    execute(PostgresBusiness.table(schema));
  }

  private PostgresOutboxStore store(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource).schema(schema).build();
  }

  /** The driver's and the pool's own settings, on both sides. */
  private HikariDataSource pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(user.isEmpty() ? null : user);
    config.setPassword(password.isEmpty() ? null : password);
    config.setMaximumPoolSize(connections);
    config.addDataSourceProperty("ApplicationName", schema + "_pool");
    return new HikariDataSource(config);
  }

  @Override
  public Map<String, String> describe() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("database", text("select version()"));
    for (String setting : SETTINGS) {
      all.put(setting, text("select current_setting('" + setting + "')"));
    }
    return all;
  }

  @Override
  public synchronized double roundTripMicros() {
    try (PreparedStatement select = admin.prepareStatement("select 1")) {
      double[] micros = new double[ROUND_TRIPS];
      for (int i = 0; i < 2 * ROUND_TRIPS; i++) {
        long before = System.nanoTime();
        select.executeQuery().close();
        micros[i % ROUND_TRIPS] = (System.nanoTime() - before) / 1e3;
      }
      Arrays.sort(micros);
      return micros[ROUND_TRIPS / 2];
    } catch (SQLException e) {
      throw failed("select 1", e);
    }
  }

  @Override
  public BenchDatabase sibling() {
    BenchDatabase sibling = open(url, user, password);
    siblings.add(sibling);
    return sibling;
  }

  @Override
  public Access open(int connections, @Nullable StatementCounter counter) {
    HikariDataSource pool = pool(connections);
    try {
      Connection[] all = new Connection[connections];
      for (int i = 0; i < connections; i++) {
        all[i] = pool.getConnection();
      }
      for (Connection connection : all) {
        connection.close();
      }
    } catch (SQLException e) {
      pool.close();
      throw failed("connect", e);
    }
    DataSource used = counter == null ? pool : counter.watch(pool);
    return new PostgresAccess(pool, used, store(used), schema);
  }

  @Override
  public void empty(Side side) {
    // The sequence goes on, so the buckets' marks stay right.
    execute("truncate " + tables(side));
  }

  private String tables(Side side) {
    return switch (side) {
      case OURS -> table("outbox_message") + ", " + table("outbox_blocked_key");
      case LIMIT -> table("like_message");
    };
  }

  private String table(String name) {
    return schema + "." + name;
  }

  @Override
  public synchronized void fill(Side side, Load load) {
    String sql =
        """
        insert into %s (status, id, aggregate_type, aggregate_id, event_type, partition_key, payload, available_at)
        select ?, f.id, 'order', ? || coalesce(f.n %% nullif(?, 0), f.n), 'OrderPlaced',
          case when ? = 0 then f.id::text end, ?, %s
        from (select n, gen_random_uuid() as id from generate_series(?::bigint, ?::bigint) n offset 0) f
        order by f.n
        """
            .formatted(
                table(side == Side.OURS ? "outbox_message" : "like_message"),
                load.state() == State.DELAYED ? "now() + interval '1 day'" : "null");
    try (PreparedStatement insert = admin.prepareStatement(sql)) {
      insert.setString(1, status(load.state()));
      insert.setString(2, load.prefix());
      insert.setInt(3, load.keys());
      insert.setInt(4, load.keys());
      insert.setBytes(5, payload(load.payloadBytes()));
      for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
        insert.setLong(6, from);
        insert.setLong(7, Math.min(load.messages(), from + FILL_AT_ONCE) - 1);
        insert.executeUpdate();
      }
    } catch (SQLException e) {
      throw failed("filling", e);
    }
  }

  private static String status(State state) {
    return switch (state) {
      case DUE -> "PENDING";
      case DELAYED -> "SCHEDULED";
      case DEAD -> "DEAD";
    };
  }

  private static byte[] payload(int bytes) {
    byte[] payload = new byte[bytes];
    Arrays.fill(payload, (byte) 'x');
    return payload;
  }

  @Override
  public void tidy(Side side) {
    execute("vacuum (analyze) " + tables(side));
    if (side == Side.OURS) {
      execute("vacuum (analyze) " + table("outbox_bucket"));
    }
  }

  @Override
  public void checkpoint() {
    if (!mayCheckpoint) {
      return;
    }
    try {
      run("checkpoint");
    } catch (SQLException e) {
      if (!NOT_ALLOWED.equals(e.getSQLState())) {
        throw failed("checkpoint", e);
      }
      mayCheckpoint = false; // then the server makes them when it likes to
    }
  }

  @Override
  public synchronized ServerWork written(Side side) {
    awaitNone("_pool");
    if (version >= FIRST_WITH_FLUSH) {
      execute("select pg_stat_force_next_flush()");
    } else {
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
    boolean ours = side == Side.OURS;
    return new ServerWork(
        writes(ours ? "outbox_message" : "like_message"),
        ours ? writes("outbox_bucket") : 0,
        ours ? writes("outbox_blocked_key") : 0,
        number("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"));
  }

  private long writes(String table) {
    return number(
        "select n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables where schemaname = '%s' and relname = '%s'"
            .formatted(schema, table));
  }

  /** A session tells what it wrote at its end at the latest. */
  private void awaitNone(String role) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    String open =
        "select count(*) from pg_stat_activity where application_name = '%s'"
            .formatted(schema + role);
    while (number(open) > 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("row writes are counted when all pools are closed");
      }
      LockSupport.parkNanos(5_000_000);
    }
  }

  @Override
  public AutoCloseable pin(Pin pin) {
    try {
      Connection connection = connect("pin");
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        switch (pin) {
          case SNAPSHOT -> {
            statement.execute("set transaction isolation level repeatable read, read only");
            statement.execute("select 1");
          }
          case WRITER -> statement.execute(PostgresBusiness.insert(schema));
        }
      }
      return connection;
    } catch (SQLException e) {
      throw failed("pin", e);
    }
  }

  /** Removes everything, also while a run is under way, as after Ctrl-C. */
  @Override
  public void close() {
    siblings.forEach(BenchDatabase::close);
    if (closed) {
      return;
    }
    closed = true;
    try (Connection last = connect("last");
        Statement statement = last.createStatement()) {
      statement.execute(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%s\\_%%' and pid <> pg_backend_pid()"
              .formatted(schema.replace("_", "\\_")));
      statement.execute("drop schema if exists " + schema + " cascade");
      admin.close();
    } catch (SQLException e) {
      throw failed("dropping the schema " + schema, e);
    }
  }

  private void execute(String sql) {
    try {
      run(sql);
    } catch (SQLException e) {
      throw failed(sql, e);
    }
  }

  private synchronized void run(String sql) throws SQLException {
    try (Statement statement = admin.createStatement()) {
      statement.execute(sql);
    }
  }

  private long number(String sql) {
    return Long.parseLong(text(sql));
  }

  private synchronized String text(String sql) {
    try (Statement statement = admin.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return String.valueOf(rows.getString(1));
    } catch (SQLException e) {
      throw failed(sql, e);
    }
  }

  private static IllegalStateException failed(String what, SQLException e) {
    return new IllegalStateException(
        "PostgreSQL refused (%s): %s".formatted(what, e.getMessage()), e);
  }
}
