package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.dev.Jdbc;
import dev.outbox.dev.torture.InboxOracle.Effect;
import dev.outbox.dev.torture.Oracle.Archived;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Oracle.DeadLetter;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** A relational one. */
final class JdbcTortured implements Tortured {
  private static final String TABLES =
      """
      create table torture_key (name varchar(64) primary key, last integer not null default 0);
      create table torture_work (id varchar(36) primary key, name varchar(64) not null,
        nth integer not null, kind varchar(16) not null, dedup varchar(80));
      create table torture_refused (id varchar(36) primary key, dedup varchar(80) not null);
      create table torture_effect (way varchar(16) not null, message varchar(36) not null)
      """;

  private final Dialect dialect;
  private final Archive archive;
  private final DatabaseServer server;
  private final HikariDataSource pool;

  private JdbcTortured(Dialect dialect, Archive archive, DatabaseServer server) {
    this.dialect = dialect;
    this.archive = archive;
    this.server = server;
    pool = Jdbc.pool(server.jdbcUrl(), server.user(), server.password(), 4, Duration.ofSeconds(2));
  }

  static JdbcTortured start(Dialect dialect, Archive archive, int keys) {
    JdbcTortured started = new JdbcTortured(dialect, archive, dialect.start().get());
    started.store().migrate();
    started.inbox().migrate();
    try (Connection connection = started.pool.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : TABLES.split(";")) {
        statement.execute(sql);
      }
      for (int i = 0; i < keys; i++) {
        statement.execute("insert into torture_key (name) values ('key-%d')".formatted(i));
      }
    } catch (SQLException e) {
      throw JdbcPlace.away(e);
    }
    return started;
  }

  @Override
  public EmbeddedServer server() {
    return server.embedded().orElseThrow();
  }

  @Override
  public int port() {
    return URI.create(server.jdbcUrl().substring("jdbc:".length())).getPort();
  }

  @Override
  public Map<String, String> settings(int proxyPort) {
    return Map.of(
        "url",
        dialect.url(server, proxyPort),
        "user",
        server.user(),
        "password",
        server.password());
  }

  @Override
  public JdbcOutboxStore store() {
    return dialect.kind().store(pool).archive(archive).build();
  }

  @Override
  public JdbcInboxStore inbox() {
    return dialect.kind().inbox(pool).build();
  }

  @Override
  public long waiting() {
    return number(
        "select count(*) from outbox_message where status <> 'DEAD'"
            + " or event_type not in ('DOOMED', 'TOO_LARGE')");
  }

  @Override
  public String firstWaiting() {
    return rows("select seq, status, aggregate_id, event_type, attempts, last_error from outbox_message"
            + " where status <> 'DEAD' order by seq limit 5")
        .toString();
  }

  @Override
  public List<String> wrong() {
    List<String> found = new ArrayList<>();
    for (String sql : dialect.kind().all("torture wrong")) {
      rows(sql).forEach(row -> found.add(row.get(0)));
    }
    return found;
  }

  /** Buckets, but not those that a killed relay kept: its lease has ended. */
  @Override
  public long held() {
    return store().leases().orElseThrow().stream().mapToInt(WorkerLease::buckets).sum();
  }

  /** Not at all: the transaction is rolled back. */
  @Override
  public Duration longestHold() {
    return Duration.ZERO;
  }

  @Override
  public List<Committed> committed() {
    return rows("select id, name, nth, kind, dedup from torture_work").stream()
        .map(
            row ->
                new Committed(
                    new Work(
                        UUID.fromString(row.get(0)),
                        row.get(1),
                        Integer.parseInt(row.get(2)),
                        Work.Kind.valueOf(row.get(3))),
                    row.get(4).equals("null") ? null : row.get(4)))
        .toList();
  }

  @Override
  public Set<String> refused() {
    Set<String> refused = new HashSet<>();
    rows("select dedup from torture_refused").forEach(row -> refused.add(row.get(0)));
    return refused;
  }

  @Override
  public List<Effect> effects() {
    return rows("select way, message from torture_effect").stream()
        .map(row -> new Effect(row.get(0), row.get(1)))
        .toList();
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return rows("select id, seq from outbox_message where status = 'DEAD'").stream()
        .map(row -> new DeadLetter(UUID.fromString(row.get(0)), Long.parseLong(row.get(1))))
        .toList();
  }

  @Override
  public Optional<Kept> kept() {
    if (archive == Archive.NONE) {
      return Optional.empty();
    }
    return Optional.of(
        new Kept(
            rows("select id, outcome from outbox_archive_message").stream()
                .map(row -> new Archived(UUID.fromString(row.get(0)), Outcome.valueOf(row.get(1))))
                .toList(),
            rows("select id from outbox_message").stream()
                .map(row -> UUID.fromString(row.get(0)))
                .toList(),
            rows("select action, seq from outbox_archive_audit").stream()
                .map(JdbcTortured::decision)
                .toList()));
  }

  /** As the operator's journal says it. */
  private static String decision(List<String> row) {
    return (row.get(0).equals("REQUEUED") ? "requeue " : "discard ") + row.get(1);
  }

  private long number(String sql) {
    return Long.parseLong(rows(sql).get(0).get(0));
  }

  /** The rows of a query, a list of columns each, as text. */
  private List<List<String>> rows(String sql) {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      List<List<String>> all = new ArrayList<>();
      while (rows.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          row.add(String.valueOf(rows.getString(i)));
        }
        all.add(row);
      }
      return all;
    } catch (SQLException e) {
      throw JdbcPlace.away(e);
    }
  }

  private Connection open() throws SQLException {
    return DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
  }

  @Override
  public Optional<AutoCloseable> connect() {
    try {
      return Optional.of(open());
    } catch (SQLException e) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<AutoCloseable> snapshot() {
    try {
      Connection connection = open();
      try (Statement statement = connection.createStatement()) {
        statement.execute(dialect.kind().sql("torture snapshot"));
        statement.execute("select count(*) from outbox_bucket");
      }
      return Optional.of(connection);
    } catch (SQLException e) {
      return Optional.empty(); // the server is away
    }
  }

  @Override
  public void close() {
    pool.close();
    server.close();
  }
}
