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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On a relational database. */
abstract class JdbcCommandsTest extends DatabaseCommandsTest {
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

  @Override
  void create() throws SQLException {
    query("create schema " + schema);
  }

  @Override
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
