package dev.outbox.dev.bench;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.dev.bench.Cost.ServerWork;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A schema with a name that nobody else uses, on a database of any kind. */
final class JdbcBenchDatabase implements BenchDatabase {
  private static final int FILL_AT_ONCE = 10_000;
  private static final String NUMBER = "create table ${s}.number (n bigint not null primary key)";
  private static final String MESSAGES = "outbox_message";
  private static final String ARCHIVE = "outbox_archive_message";
  private static final String LIMIT = "like_message";

  /** MySQL and MariaDB. */
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final int TRIES = 60;

  private final JdbcKind kind;
  private final String url;
  private final String user;
  private final String password;
  private final String schema;
  private final Session admin;
  private boolean mayCheckpoint = true;
  private volatile boolean closed;

  private JdbcBenchDatabase(String url, String user, String password, String schema) {
    kind =
        JdbcKind.of(url)
            .filter(JdbcKind::hasBenchmarks)
            .orElseThrow(() -> new IllegalArgumentException("there are no benchmarks for it"));
    this.url = url;
    this.user = user;
    this.password = password;
    this.schema = schema;
    admin = session("admin");
  }

  static JdbcBenchDatabase open(String url, String user, String password) {
    JdbcBenchDatabase database = null;
    try {
      String schema = "outbox_bench_" + UUID.randomUUID().toString().substring(0, 8);
      database = new JdbcBenchDatabase(url, user, password, schema);
      database.create();
      return database;
    } catch (SQLException | RuntimeException e) {
      if (database != null) {
        database.close();
      }
      throw new IllegalStateException("the tables could not be made: " + e.getMessage(), e);
    }
  }

  static JdbcBenchDatabase attach(Map<String, String> address) {
    return new JdbcBenchDatabase(
        requireNonNull(address.get("url")),
        requireNonNull(address.get("user")),
        requireNonNull(address.get("password")),
        requireNonNull(address.get("schema")));
  }

  @Override
  public Map<String, String> address() {
    return Map.of("url", url, "user", user, "password", password, "schema", schema);
  }

  /** A session that {@link #close} finds once it has entered the schema. */
  private Session session(String role) {
    Properties properties = new Properties();
    if (!user.isEmpty()) {
      properties.setProperty("user", user);
    }
    if (!password.isEmpty()) {
      properties.setProperty("password", password);
    }
    String named = kind.named(url, sessionName(role));
    return new Session(kind.name(), () -> DriverManager.getConnection(named, properties));
  }

  private String sessionName(String role) {
    return schema + "_" + role;
  }

  private void create() throws SQLException {
    kind.createSchema(admin.connection(), schema);
    enter(admin);
    try (HikariDataSource pool = pool(1)) {
      kind.store(pool).schema(schema).archive(Archive.FULL).build().migrate();
      kind.inbox(pool).schema(schema).build().migrate();
    }
    for (String sql :
        List.of(kind.sql("limit table"), kind.sql("business table"), NUMBER, numbers())) {
      admin.execute(JdbcKind.in(schema, sql));
    }
  }

  /** 0 to 9,999. */
  private static String numbers() {
    String digits =
        IntStream.range(0, 10)
            .mapToObj(digit -> "select " + digit + " as n")
            .collect(Collectors.joining(" union all "));
    return Stream.of("a", "b", "c", "d")
        .map(table -> "(" + digits + ") " + table)
        .collect(
            Collectors.joining(
                " cross join ",
                "insert into ${s}.number select a.n + 10 * b.n + 100 * c.n + 1000 * d.n from ",
                ""));
  }

  private void enter(Session session) throws SQLException {
    String sql = kind.enter(schema);
    if (sql != null) {
      session.run(sql);
    }
  }

  private JdbcOutboxStore store(DataSource dataSource) {
    return kind.store(dataSource).schema(schema).build();
  }

  /** The driver's and the pool's own settings, on both sides. */
  private HikariDataSource pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(kind.named(url, sessionName("pool")));
    config.setUsername(user.isEmpty() ? null : user);
    config.setPassword(password.isEmpty() ? null : password);
    config.setMaximumPoolSize(connections);
    config.setConnectionInitSql(kind.enter(schema));
    return new HikariDataSource(config);
  }

  @Override
  public Map<String, String> describe() {
    Map<String, String> all = new LinkedHashMap<>();
    try {
      DatabaseMetaData data = admin.connection().getMetaData();
      all.put("database", kind.name() + " " + data.getDatabaseProductVersion());
      all.put("driver", data.getDriverName() + " " + version(data));
    } catch (SQLException e) {
      throw admin.failed("version", e);
    }
    for (String setting : kind.settings()) {
      all.put(setting, admin.text(kind.sql("setting").formatted(setting)));
    }
    all.put("round trip of select 1", "%.0f µs".formatted(roundTripMicros()));
    return all;
  }

  /** MySQL's driver says its name and revision too. */
  private static String version(DatabaseMetaData data) throws SQLException {
    return data.getDriverVersion().replaceFirst("^mysql-connector-j-", "").replaceFirst(" .*", "");
  }

  /** Of the smallest statement there is. */
  private double roundTripMicros() {
    try (PreparedStatement select = admin.connection().prepareStatement("select 1")) {
      return BenchDatabase.roundTrip(
          () -> {
            try {
              select.executeQuery().close();
            } catch (SQLException e) {
              throw admin.failed("select 1", e);
            }
          });
    } catch (SQLException e) {
      throw admin.failed("select 1", e);
    }
  }

  @Override
  public Access open(int connections, @Nullable WorkCounter counter) {
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
      throw admin.failed("connect", e);
    }
    DataSource used = counter == null ? pool : StatementWatch.watch(pool, counter);
    return new JdbcAccess(pool, used, store(used), kind, schema);
  }

  /** PostgreSQL's sequences go on, so its marks stay right; the others have no marks. */
  @Override
  public void empty(Side side) {
    List<String> tables =
        side == Side.OURS ? List.of(MESSAGES, "outbox_blocked_key", ARCHIVE) : List.of(LIMIT);
    tables.forEach(table -> truncate(table(table)));
  }

  /** MariaDB waits 0.7 s for its purge to leave the table, and then refuses. */
  private void truncate(String table) {
    String sql = "truncate table " + table;
    for (int attempt = 1; ; attempt++) {
      try {
        admin.run(sql);
        return;
      } catch (SQLException e) {
        if (attempt == TRIES || e.getErrorCode() != LOCK_WAIT_TIMEOUT) {
          throw admin.failed(sql, e);
        }
      }
    }
  }

  private String table(String name) {
    return schema + "." + name;
  }

  @Override
  public void fill(Side side, Load load) {
    String sql =
        kind.sql("fill", schema).replace("${t}", table(side == Side.OURS ? MESSAGES : LIMIT));
    byte[] payload = new byte[Load.PAYLOAD];
    Arrays.fill(payload, (byte) 'x');
    synchronized (admin) {
      try (PreparedStatement insert = admin.connection().prepareStatement(sql)) {
        insert.setString(1, Load.KEY);
        insert.setInt(2, load.keys());
        insert.setInt(3, load.keys());
        insert.setBytes(4, payload);
        for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
          insert.setLong(5, from);
          insert.setLong(6, Math.min(load.messages() - from, FILL_AT_ONCE));
          insert.executeUpdate();
        }
      } catch (SQLException e) {
        throw admin.failed("filling", e);
      }
    }
  }

  @Override
  public void tidy(Side side) {
    List<String> tables =
        side == Side.OURS
            ? List.of(MESSAGES, "outbox_blocked_key", "outbox_bucket")
            : List.of(LIMIT);
    tables.forEach(table -> admin.execute(kind.sql("tidy").replace("${t}", table(table))));
  }

  @Override
  public void checkpoint() {
    if (!kind.has("checkpoint") || !mayCheckpoint) {
      return;
    }
    String sql = kind.sql("checkpoint");
    try {
      admin.run(sql);
    } catch (SQLException e) {
      if (!kind.isNotAllowed(e)) {
        throw admin.failed(sql, e);
      }
      mayCheckpoint = false; // then the server makes them when it likes to
    }
  }

  @Override
  public ServerWork written(Side side) {
    kind.awaitCounted(admin, sessionName("pool"));
    boolean ours = side == Side.OURS;
    return new ServerWork(
        ours
            ? kind.writes(admin, schema, MESSAGES) + kind.writes(admin, schema, ARCHIVE)
            : kind.writes(admin, schema, LIMIT),
        ours ? kind.writes(admin, schema, "outbox_bucket") : 0,
        ours ? kind.writes(admin, schema, "outbox_blocked_key") : 0,
        kind.logBytes(admin));
  }

  @Override
  public AutoCloseable pin(Pin pin) {
    try {
      Session session = session("pin");
      enter(session);
      session.connection().setAutoCommit(false);
      switch (pin) {
        case SNAPSHOT -> {
          for (String sql : kind.all("pin snapshot")) {
            session.run(sql);
          }
        }
        case WRITER -> session.run(JdbcBusiness.insert(schema));
        case APPENDER -> {
          try (HikariDataSource pool = pool(1)) {
            store(pool).append(session.connection(), List.of(OpenLoad.message(0)));
          }
        }
      }
      return session;
    } catch (SQLException e) {
      throw admin.failed("pin", e);
    }
  }

  /** Removes everything, also while a run is under way, as after Ctrl-C. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (Session last = session("last")) {
      kind.removeSchemas(last.connection(), schema);
      admin.close();
    } catch (SQLException e) {
      throw admin.failed("dropping the schema " + schema, e);
    }
  }
}
