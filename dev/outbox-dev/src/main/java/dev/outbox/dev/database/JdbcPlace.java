package dev.outbox.dev.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spi.store.StoreProvider.Settings;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A relational database. */
public final class JdbcPlace implements Tortured<Connection> {
  private static final String COMMIT_LATER = "torture commit later";

  private final StoreKind kind;
  private final Address address;
  private final Archive archive;
  private final HikariDataSource pool;
  private final DataSource dataSource; // the pool, or what counts in front of it
  private final JdbcOutboxStore store;

  private JdbcPlace(
      StoreKind kind,
      Address address,
      Archive archive,
      HikariDataSource pool,
      DataSource dataSource) {
    this.kind = kind;
    this.address = address;
    this.archive = archive;
    this.pool = pool;
    this.dataSource = dataSource;
    store = newStore(archive);
  }

  /**
   * Whose clients wait so long for a connection. It opens them when they are needed, so that the
   * database may be away.
   */
  public static JdbcPlace patient(
      StoreKind kind, Address address, Archive archive, int size, Duration patience) {
    HikariConfig config = Jdbc.config(kind, address, "place", size);
    config.setMinimumIdle(0);
    config.setInitializationFailTimeout(-1);
    config.setConnectionTimeout(patience.toMillis());
    // Else the pool asks for the default, once; when that connection dies it never works again.
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    HikariDataSource pool = new HikariDataSource(config);
    return new JdbcPlace(kind, address, archive, pool, pool);
  }

  /**
   * With the pool's and the driver's own settings; all connections are open when it returns.
   *
   * @param watch may count what goes through the pool
   */
  public static JdbcPlace ready(Address address, int size, UnaryOperator<DataSource> watch) {
    StoreKind kind = StoreKind.of(address.url());
    HikariDataSource pool = new HikariDataSource(Jdbc.config(kind, address, "pool", size));
    JdbcPlace place = new JdbcPlace(kind, address, Archive.NONE, pool, watch.apply(pool));
    try {
      Stream.generate(place::open).limit(size).toList().forEach(place::end);
      return place;
    } catch (TransientOutboxException e) {
      place.close();
      throw e;
    }
  }

  public StoreKind kind() {
    return kind;
  }

  @Override
  public void check() {
    Stores.connect(address).close();
  }

  public interface Question<R> {
    R of(Connection connection) throws SQLException;
  }

  public interface Step {
    void on(Connection connection) throws SQLException;
  }

  /** Asks it; what fails passes, as all that a fault can do, and begins with the problem. */
  public <R> R ask(String problem, Question<R> question) {
    try (Connection connection = dataSource.getConnection()) {
      return question.of(connection);
    } catch (SQLException e) {
      throw new TransientOutboxException(problem + ": " + e.getMessage(), e);
    }
  }

  /** Does it; the same of what fails. */
  public void tell(String problem, Step step) {
    boolean unused =
        ask(
            problem,
            connection -> {
              step.on(connection);
              return true;
            });
  }

  @Override
  public Map<String, String> about() {
    return ask(
        "the server's version cannot be read",
        connection -> {
          DatabaseMetaData data = connection.getMetaData();
          // MySQL's driver says its name and revision too.
          String version =
              data.getDriverVersion()
                  .replaceFirst("^mysql-connector-j-", "")
                  .replaceFirst(" .*", "");
          Map<String, String> about = new LinkedHashMap<>();
          about.put("database", kind.label + " " + data.getDatabaseProductVersion());
          about.put("driver", data.getDriverName() + " " + version);
          return about;
        });
  }

  @Override
  public void createSchema(String name) {
    String problem = "no schema can be made in this database";
    String grant = ask(problem, connection -> Jdbc.text(connection, kind.sql("grant")));
    try {
      tell(problem, connection -> Jdbc.execute(connection, "create schema " + name));
    } catch (TransientOutboxException e) {
      throw new Failure("%s; as who may give rights, run: %s".formatted(e.getMessage(), grant), e);
    }
  }

  /** Those that this user may know of. */
  @Override
  public List<String> schemas(String begin) {
    return texts(
        "select schema_name from information_schema.schemata where schema_name like ? escape '!'",
        pattern(begin));
  }

  @Override
  public void removeSchemas(String begin) {
    for (String session : texts(kind.sql("sessions"), pattern(begin))) {
      try {
        execute(kind.sql("end session").formatted(session));
      } catch (TransientOutboxException e) {
        // It has ended meanwhile; or it may not be ended, and then the removal says what it blocks.
      }
    }
    for (String schema : schemas(begin)) {
      tell(
          "the schema %s could not be removed".formatted(schema),
          connection -> {
            for (String statement : drop(connection, schema)) {
              Jdbc.execute(connection, statement);
            }
          });
    }
  }

  private static String pattern(String begin) {
    return begin.replaceAll("[!_%]", "!$0") + "%";
  }

  /** SQL Server has no CASCADE. Not for ever does it wait for a session that may not be ended. */
  private List<String> drop(Connection connection, String schema) throws SQLException {
    if (kind != StoreKind.SQLSERVER) {
      return List.of(kind.sql("drop schema", schema));
    }
    List<String> all = new ArrayList<>(List.of("set lock_timeout 30000"));
    for (String what : List.of("table", "type")) {
      String from = what.equals("type") ? "sys.table_types" : "sys.tables";
      Jdbc.rows(connection, "select name from " + from + " where schema_id = schema_id(?)", schema)
          .forEach(row -> all.add("drop %s %s.%s".formatted(what, schema, row.get(0))));
    }
    all.add("drop schema if exists " + schema);
    return all;
  }

  /** The first column. */
  private List<String> texts(String sql, String... parameters) {
    return rows(sql, parameters).stream().map(row -> row.get(0)).toList();
  }

  @Override
  public Address in(String schema) {
    return new Address(address.url(), address.user(), address.password(), schema, address.prefix());
  }

  @Override
  public Address named(String name) {
    return new Address(
        kind.named(address.url(), name),
        address.user(),
        address.password(),
        address.schema(),
        address.prefix());
  }

  @Override
  public JdbcOutboxStore store() {
    return store;
  }

  /** One on this pool that keeps such an archive. */
  public JdbcOutboxStore store(Archive archive) {
    return archive == this.archive ? store : newStore(archive);
  }

  private JdbcOutboxStore newStore(Archive archive) {
    Settings settings =
        new Settings(
            "", "", "", address.schema(), Settings.DEFAULT_PREFIX, null, 1, History.of(archive));
    return provider().store(dataSource, settings);
  }

  private JdbcStoreProvider provider() {
    return (JdbcStoreProvider) Stores.named(kind.toString());
  }

  @Override
  public JdbcInboxStore inbox(@Nullable Duration retention) {
    Duration time = retention == null ? InboxStore.DEFAULT_RETENTION : retention;
    return provider().inbox(dataSource, address.schema(), InboxStore.DEFAULT_PREFIX, time);
  }

  @Override
  public void create(int keys) {
    store.migrate();
    createNotes(APPENDED);
    execute(
        "create table ${q}torture_key (name varchar(64) primary key, last integer not null default 0)");
    execute(
        IntStream.range(0, keys)
            .mapToObj(n -> "('%s')".formatted(Place.key(n)))
            .collect(Collectors.joining(", ", "insert into ${q}torture_key (name) values ", "")));
  }

  @Override
  public void createInbox() {
    inbox(null).migrate();
    createNotes(EFFECTS);
  }

  private void createNotes(String list) {
    execute("create table ${q}torture_%s (note varchar(500) not null)".formatted(list));
  }

  @Override
  public void note(Connection connection, String list, String note) {
    update(connection, "insert into ${q}torture_%s (note) values (?)".formatted(list), note);
  }

  @Override
  public List<String> notes(String list) {
    return texts("select note from ${q}torture_" + list);
  }

  private static TransientOutboxException away(SQLException e) {
    return new TransientOutboxException(String.valueOf(e.getMessage()), e);
  }

  /** Does it in a transaction. */
  public static void tried(Connection connection, Step step) {
    try {
      step.on(connection);
    } catch (SQLException e) {
      throw away(e);
    }
  }

  /** With the schema in front of a table, where there is one: in place of <code>${q}</code>. */
  public String qualified(String sql) {
    return sql.replace("${q}", address.schema() == null ? "" : address.schema() + ".");
  }

  /**
   * Does what a statement says.
   *
   * @param sql see {@link #qualified}
   */
  public void execute(String sql) {
    tell(sql.strip(), connection -> Jdbc.execute(connection, qualified(sql)));
  }

  private List<List<String>> rows(String sql, String... parameters) {
    return ask(sql.strip(), connection -> Jdbc.rows(connection, qualified(sql), parameters));
  }

  private void update(Connection connection, String sql, @Nullable Object... parameters) {
    tried(connection, c -> Jdbc.update(c, qualified(sql), parameters));
  }

  /** It is in a transaction, always; the pool rolls back what is left open. */
  @Override
  public Connection open() {
    try {
      Connection connection = dataSource.getConnection();
      try {
        connection.setAutoCommit(false);
        return connection;
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      throw away(e);
    }
  }

  @Override
  public void commit(Connection connection) {
    tried(connection, Connection::commit);
  }

  @Override
  public void end(Connection connection) {
    tried(connection, Connection::close);
  }

  @Override
  public int lock(Connection connection, String key) {
    try {
      String unused = Jdbc.text(connection, qualified(kind.sql("torture lock key")), key);
      return Integer.parseInt(Jdbc.text(connection, qualified(kind.sql("torture read key")), key));
    } catch (SQLException e) {
      throw away(e);
    }
  }

  @Override
  public void last(Connection connection, String key, int number) {
    update(connection, "update ${q}torture_key set last = ? where name = ?", number, key);
  }

  @Override
  public boolean commitLater(Connection connection) {
    boolean can = kind.has(COMMIT_LATER);
    if (can) {
      update(connection, kind.sql(COMMIT_LATER));
    }
    return can;
  }

  @Override
  public void appendPlain(Connection connection, OutboxMessage message, int stallMillis) {
    update(
        connection,
        kind.sql("torture slow insert"),
        message.id().toString(),
        message.aggregateType(),
        message.aggregateId(),
        message.eventType(),
        message.payload(),
        stallMillis / 1_000.0);
  }

  @Override
  public void inVain(Connection connection, Runnable work) {
    tried(
        connection,
        unused -> {
          Savepoint before = connection.setSavepoint();
          work.run();
          connection.rollback(before);
        });
  }

  @Override
  public void exhaust(long millis) {
    Tortured.exhaust(pool.getMaximumPoolSize(), pool::getConnection, millis);
  }

  @Override
  public Optional<AutoCloseable> connect() {
    try {
      return Optional.of(
          DriverManager.getConnection(address.url(), address.user(), address.password()));
    } catch (SQLException e) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<AutoCloseable> snapshot() {
    try {
      Business<Connection> held = begin();
      try {
        for (String sql : kind.all("snapshot")) {
          tried(held.transaction(), on -> Jdbc.execute(on, sql));
        }
        return Optional.of(held);
      } catch (TransientOutboxException e) {
        Tortured.close(held);
        throw e;
      }
    } catch (TransientOutboxException e) {
      return Optional.empty();
    }
  }

  @Override
  public long waiting() {
    return Long.parseLong(texts("select count(*) from outbox_message").get(0));
  }

  @Override
  public String firstWaiting() {
    return rows("select seq, status, aggregate_id, event_type, attempts, last_error"
            + " from outbox_message order by seq limit 5")
        .toString();
  }

  @Override
  public List<String> wrong() {
    return kind.all("torture wrong").stream().flatMap(sql -> texts(sql).stream()).toList();
  }

  /** Buckets, but not those that a killed relay kept: its lease has ended. */
  @Override
  public long held() {
    return store.leases().orElseThrow().stream().mapToInt(WorkerLease::buckets).sum();
  }

  @Override
  public Optional<Kept> kept() {
    if (archive == Archive.NONE) {
      return Optional.empty();
    }
    return Optional.of(
        new Kept(
            rows("select id, outcome from outbox_archive_message").stream()
                .map(
                    row ->
                        new Work.Archived(UUID.fromString(row.get(0)), Outcome.valueOf(row.get(1))))
                .toList(),
            texts("select id from outbox_message").stream().map(UUID::fromString).toList(),
            rows("select action, seq from outbox_archive_audit").stream()
                .map(row -> (row.get(0).equals("REQUEUED") ? "requeue " : "discard ") + row.get(1))
                .toList()));
  }

  @Override
  public void close() {
    pool.close();
  }
}
