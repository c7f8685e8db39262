package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.benchmarks.JdbcKind;
import dev.outbox.embedded.DatabaseServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The commands that look at one database, on a real one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DatabaseCommandsTest {
  private DatabaseServer server;

  private final String schema = "cli_" + UUID.randomUUID().toString().substring(0, 8);

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

  @BeforeEach
  void create() throws SQLException {
    query("create schema " + schema);
  }

  @AfterEach
  void drop() {
    database().removeSchemas(schema);
  }

  private Database database() {
    return Database.at(new Address(server.jdbcUrl(), server.user(), server.password()));
  }

  private Connection connect(String url) throws SQLException {
    return DriverManager.getConnection(url, server.user(), server.password());
  }

  private List<String> query(String sql) throws SQLException {
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

  /** Runs a command on the test's schema. */
  private Cli cli(String... arguments) {
    return cliAt(url(), arguments);
  }

  /** The same by another URL. */
  Cli cliAt(String url, String... arguments) {
    return Cli.run(
        Stream.concat(
                Stream.of(arguments),
                Stream.of(
                    "--url=" + url,
                    "--user=" + server.user(),
                    "--password=" + server.password(),
                    "--schema=" + schema))
            .toArray(String[]::new));
  }

  private long insertDead(String error) throws SQLException {
    query(
        """
        insert into %s.outbox_message
          (aggregate_type, aggregate_id, event_type, payload, status, attempts, last_error)
        values ('order', '17', 'OrderPlaced', '', 'DEAD', 10, '%s')
        """
            .formatted(schema, error));
    return Long.parseLong(query("select max(seq) from %s.outbox_message".formatted(schema)).get(0));
  }

  @Test
  @DisplayName("status before migrate says what to do; migrate twice is fine; status then counts")
  void migrateAndStatus() throws SQLException {
    Cli before = cli("status");
    assertThat(before.code()).isEqualTo(2);
    assertThat(before.err()).contains("./outbox migrate").hasLineCount(1);

    for (int i = 0; i < 2; i++) {
      Cli migrate = cli("migrate");
      assertThat(migrate.code()).as(migrate.err()).isZero();
      assertThat(migrate.out()).contains("up to date");
    }
    insertDead("x");
    Cli status = cli("status");
    assertThat(status.code()).isZero();
    assertThat(status.out().lines().map(line -> line.replaceAll(" +", " ")))
        .contains("schemaVersion 1", "pending 0", "dead 1", "oldestPendingSeconds -");
    assertThat(cli("status", "--json").out())
        .startsWith("{\"schemaVersion\": 1, \"pending\": 0,")
        .contains("\"dead\": 1", "\"oldestPendingSeconds\": null}");
  }

  @Test
  @DisplayName("a schema that is not there is named, with the statement that makes it")
  void missingSchema() {
    Cli cli =
        Cli.run(
            "migrate",
            "--url=" + server.jdbcUrl(),
            "--user=" + server.user(),
            "--password=" + server.password(),
            "--schema=not_there");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).contains("\"create schema not_there\"").hasLineCount(1);
  }

  @Test
  @DisplayName("dead letters are listed, requeued and discarded, one by one and all")
  void deadLetters() throws SQLException {
    assertThat(cli("migrate").code()).isZero();
    assertThat(cli("dead-letters", "list").out()).contains("There are no dead letters.");
    long first = insertDead("broker said no");
    long second = insertDead("two\nlines, password=geheim");
    long third = insertDead("x");

    Cli list = cli("dead-letters", "list", "--limit=2");
    assertThat(list.out())
        .contains("OrderPlaced", "broker said no", "two lines", "--after " + second)
        .doesNotContain("geheim");
    assertThat(cli("dead-letters", "list", "--after=" + second).out())
        .contains(Long.toString(third))
        .doesNotContain("broker said no");

    Cli requeue = cli("dead-letters", "requeue", Long.toString(first), "999999");
    assertThat(requeue.code()).isEqualTo(1);
    assertThat(requeue.out()).contains("1 requeued.", "There is no dead letter 999999.");
    assertThat(cli("dead-letters", "discard", Long.toString(second)).out())
        .contains("1 discarded.");
    assertThat(cli("dead-letters", "requeue", "--all").out()).contains("1 requeued.");
    assertThat(query("select status from %s.outbox_message".formatted(schema)))
        .hasSize(2)
        .doesNotContain("DEAD");
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

  @Test
  @DisplayName("what an interrupted tck left is removed, also while it is still in use")
  void removeSchemas() throws Exception {
    String name = schema + "_tck";
    query("create schema " + name + "_1");
    query("create table " + name + "_1.t as select 1 as n");
    query("create schema " + schema + "xtck_1");
    try (Connection busy = connect(database().named(name).url());
        Statement statement = busy.createStatement()) {
      String enter = JdbcKind.of(server.jdbcUrl()).orElseThrow().enter(name + "_1");
      if (enter != null) {
        statement.execute(enter);
      }
      busy.setAutoCommit(false);
      statement.execute("insert into " + name + "_1.t values (2)");

      TckCommand.removeSchemas(database(), name);

      assertThat(
              query(
                  "select schema_name from information_schema.schemata where schema_name like '"
                      + schema
                      + "%'"))
          .containsExactlyInAnyOrder(schema, schema + "xtck_1");
      assertThat(busy.isValid(5)).isFalse();
    }
  }
}
