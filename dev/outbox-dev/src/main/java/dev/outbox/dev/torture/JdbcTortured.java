package dev.outbox.dev.torture;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.dev.torture.Oracle.Archived;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Oracle.DeadLetter;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
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
  private final Dialect dialect;
  private final Archive archive;
  private final DatabaseServer server;
  private final JdbcPlace place;

  private JdbcTortured(Dialect dialect, Archive archive, DatabaseServer server) {
    this.dialect = dialect;
    this.archive = archive;
    this.server = server;
    Address direct = new Address(server.jdbcUrl(), server.user(), server.password());
    place = new JdbcPlace(dialect.kind().jdbc(), direct, archive, 4, Duration.ofSeconds(2));
  }

  static JdbcTortured start(Dialect dialect, Archive archive) {
    return new JdbcTortured(dialect, archive, dialect.start().get());
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
    return place.store();
  }

  @Override
  public JdbcPlace place() {
    return place;
  }

  @Override
  public long waiting() {
    return number(
        "select count(*) from outbox_message where status <> 'DEAD'"
            + " or event_type not in ('DOOMED', 'TOO_LARGE')");
  }

  @Override
  public String firstWaiting() {
    return place
        .rows(
            "select seq, status, aggregate_id, event_type, attempts, last_error from outbox_message"
                + " where status <> 'DEAD' order by seq limit 5")
        .toString();
  }

  @Override
  public List<String> wrong() {
    List<String> found = new ArrayList<>();
    for (String sql : dialect.kind().jdbc().all("torture wrong")) {
      place.rows(sql).forEach(row -> found.add(row.get(0)));
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
    return place.rows("select id, name, nth, kind, dedup from torture_work").stream()
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
    place.rows("select dedup from torture_refused").forEach(row -> refused.add(row.get(0)));
    return refused;
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return place.rows("select id, seq from outbox_message where status = 'DEAD'").stream()
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
            place.rows("select id, outcome from outbox_archive_message").stream()
                .map(row -> new Archived(UUID.fromString(row.get(0)), Outcome.valueOf(row.get(1))))
                .toList(),
            place.rows("select id from outbox_message").stream()
                .map(row -> UUID.fromString(row.get(0)))
                .toList(),
            place.rows("select action, seq from outbox_archive_audit").stream()
                .map(JdbcTortured::decision)
                .toList()));
  }

  /** As the operator's journal says it. */
  private static String decision(List<String> row) {
    return (row.get(0).equals("REQUEUED") ? "requeue " : "discard ") + row.get(1);
  }

  private long number(String sql) {
    return Long.parseLong(place.rows(sql).get(0).get(0));
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
        statement.execute(dialect.kind().jdbc().sql("torture snapshot"));
        statement.execute("select count(*) from outbox_bucket");
      }
      return Optional.of(connection);
    } catch (SQLException e) {
      return Optional.empty(); // the server is away
    }
  }

  @Override
  public void close() {
    place.close();
    server.close();
  }
}
