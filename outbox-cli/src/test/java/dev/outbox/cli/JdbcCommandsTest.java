package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoreProvider;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On a relational database. */
abstract class JdbcCommandsTest extends DatabaseCommandsTest {
  private DatabaseServer server;

  final String schema = "cli_" + UUID.randomUUID().toString().substring(0, 8);

  /** Which server. */
  abstract DatabaseServer server();

  @BeforeAll
  void start() {
    server = server();
  }

  @AfterAll
  void stop() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Override
  void create() throws SQLException {
    query("create schema " + schema);
  }

  @Override
  void drop() throws SQLException {
    query("drop schema " + schema + cascade());
  }

  /** What PostgreSQL wants to hear. */
  String cascade() {
    return "";
  }

  final Address address(String user, String password) {
    return new Address(
        server.jdbcUrl(), user, password, schema, StoreProvider.Settings.DEFAULT_PREFIX);
  }

  @Override
  StoreProvider.Opened opened() {
    return Stores.connect(address(server.user(), server.password()));
  }

  private Connection connect(String url) throws SQLException {
    return DriverManager.getConnection(url, server.user(), server.password());
  }

  final List<String> query(String sql) throws SQLException {
    try (Connection connection = connect(server.jdbcUrl());
        Statement statement = connection.createStatement()) {
      List<String> values = new ArrayList<>();
      if (statement.execute(sql)) {
        ResultSet rows = statement.getResultSet();
        while (rows.next()) {
          values.add(rows.getString(1));
        }
      }
      return values;
    }
  }

  String url() {
    return server.jdbcUrl();
  }

  @Override
  List<String> options() {
    return options(url());
  }

  /** The same by another URL. */
  List<String> options(String url) {
    return List.of(
        "--url=" + url,
        "--user=" + server.user(),
        "--password=" + server.password(),
        "--schema=" + schema);
  }

  @Override
  long insertDead(String error) throws SQLException {
    query(
        """
        insert into %s.outbox_message
          (aggregate_type, aggregate_id, event_type, payload, status, attempts, last_error)
        values ('order', '17', 'OrderPlaced', '', 'DEAD', 10, '%s')
        """
            .formatted(schema, error));
    return Long.parseLong(query("select max(seq) from %s.outbox_message".formatted(schema)).get(0));
  }

  @Override
  List<String> statuses() throws SQLException {
    return query("select status from %s.outbox_message".formatted(schema));
  }

  @Test
  @DisplayName(
      "status names the relay that holds something, and says when the oldest waits too long")
  void leasesAndAge() throws Exception {
    assertThat(cli("migrate").code()).isZero();
    query(
        """
        insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload, created_at)
        values ('order', '17', 'OrderPlaced', '', '2020-01-01 00:00:00')
        """
            .formatted(schema));
    Cli waits = cli("status", "--max-age=1d");
    assertThat(waits.code()).isEqualTo(1);
    assertThat(waits.out())
        .contains("none holds anything now", "TOO MUCH: the oldest message that is due waits ")
        .contains("--max-age is 86400.0 s")
        .containsPattern(
            "PROBLEM: delivery: standing still because no relay (lives|holds anything)\\b.*\\R  outbox ");
    assertThat(cli("status", "--max-age=36500d").code()).isZero();
    try (StoreProvider.Opened outbox = Stores.connect(address(server.user(), server.password()))) {
      Claim claim =
          outbox.store().claim(new Claim.Request("shop\"1", 10, 1_000_000, Duration.ofMinutes(5)));
      assertThat(claim.messages()).hasSize(1);
      assertThat(cli("status").out())
          .doesNotContain("standing still")
          .contains("WARNING: delivery: delivering a backlog")
          .containsPattern("worker +shop\"1 holds 1 buckets since 20.*Z until 20.*Z");
      assertThat(cli("status", "--json", "--max-age=1s").out())
          .contains("\"leases\": [{\"worker\": \"shop\\\"1\", \"buckets\": 1, \"since\": \"20")
          .contains("\"passedLimits\": [\"the oldest message");
      assertThat(claim.settle(Map.of())).isEmpty();
    }
  }

  @Test
  @DisplayName("a schema that is not there is named, with the statement that makes it")
  void missingSchema() {
    for (String command : List.of("migrate", "status", "dead-letters list")) {
      List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
      arguments.addAll(
          List.of(
              "--url=" + server.jdbcUrl(),
              "--user=" + server.user(),
              "--password=" + server.password(),
              "--schema=not_there"));
      Cli cli = Cli.run(arguments.toArray(String[]::new));
      assertThat(cli.code()).isEqualTo(2);
      assertThat(cli.err()).contains("\"create schema not_there\"").hasLineCount(1);
    }
  }

  @Test
  @DisplayName("a missing password is asked for by the variable's name")
  void noPassword() {
    for (List<String> more : List.of(List.<String>of(), List.of("--password"))) {
      List<String> arguments =
          new ArrayList<>(
              List.of("status", "--url=" + server.jdbcUrl(), "--user=" + server.user()));
      arguments.addAll(more);
      Cli cli = Cli.run(arguments.toArray(String[]::new));
      assertThat(cli.code()).isEqualTo(2);
      assertThat(cli.err()).contains("OUTBOX_PASSWORD").hasLineCount(1);
    }
  }

  @Test
  @DisplayName("a wrong password is one sentence")
  void wrongPassword() {
    Cli cli =
        Cli.run(
            "status",
            "--url=" + server.jdbcUrl(),
            "--user=" + server.user(),
            "--password",
            "not-the-password");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).startsWith("outbox: cannot connect to jdbc:").hasLineCount(1);
    assertThat(cli.err()).doesNotContain("not-the-password");
  }
}
