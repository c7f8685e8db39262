package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoreProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

  final List<String> query(String sql) throws SQLException {
    return Sql.query(server, sql);
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

  @Test
  @DisplayName("messages are cancelled until they are due, and it says for which it is too late")
  void cancels() throws Exception {
    cli("migrate").done();
    String dead = "" + insertDead("x");
    for (int year : List.of(2000, 2900, 2901, 2902)) {
      query(
          """
          insert into %s.outbox_message
            (aggregate_type, aggregate_id, event_type, payload, dedup_key, status, available_at)
          values ('order', '18', 'Reminder', '', 'of %2$d', 'SCHEDULED', '%2$d-01-01 00:00:00')
          """
              .formatted(schema, year));
    }
    List<String> delayed =
        query(
            "select seq from %s.outbox_message where status = 'SCHEDULED' order by seq"
                .formatted(schema));
    assertThat(cli("messages", "cancel", dead, delayed.get(0), delayed.get(1)).failed())
        .contains(
            "1 cancelled.",
            "Message %s was not cancelled: it is not delayed any more, or is gone.".formatted(dead),
            "Message %s was not cancelled: it is not delayed any more, or is gone."
                .formatted(delayed.get(0)));
    assertThat(cli("messages", "cancel", "--all").err()).contains("add --yes");
    assertThat(cli("messages", "cancel", "--all", "--key=order/18", "--dry-run").out())
        .contains("3 messages:", "3  order Reminder: -, sequences ");
    Cli one = cli("messages", "cancel", "--all", "--dedup-key=of 2901", "--yes");
    assertThat(one.out()).as(one.err()).contains("1 message:", "1 cancelled.");
    assertThat(cli("messages", "cancel", "--all", "--yes").failed())
        .contains(
            "1 cancelled.",
            "Message %s was not cancelled: it is not delayed any more, or is gone."
                .formatted(delayed.get(0)));
    assertThat(statuses()).containsExactlyInAnyOrder("DEAD", "SCHEDULED");
  }

  /** Inserts as a producer does; what is left out of the columns is right. */
  final void produce(String columns, String values, byte[] payload) throws SQLException {
    try (Connection connection = Sql.connect(server);
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into %s.outbox_message (aggregate_type, event_type, payload, %s) values ('order', 'OrderPaid', ?, %s)"
                    .formatted(schema, columns, values))) {
      insert.setBytes(1, payload);
      assertThat(insert.executeUpdate()).isEqualTo(1);
    }
  }

  /** Asserts that one rule is broken and no other. */
  final void assertBroken(int rule, String sentence) throws Exception {
    Cli check = cli("check-producer");
    List<String> lines = check.out().lines().filter(line -> line.contains(": rule ")).toList();
    assertThat(lines).as(check.out()).hasSize(1);
    assertThat(lines.get(0))
        .containsPattern("(PROBLEM|WARNING): rule %d: message \\d+ ".formatted(rule))
        .contains(sentence);
    assertThat(check.code()).isEqualTo(lines.get(0).startsWith("PROBLEM") ? 1 : 0);
    var ignored = query("delete from %s.outbox_message".formatted(schema));
  }

  @Test
  @DisplayName(
      "check-producer names each rule that can be seen in rows, and the rows that break it")
  void producers() throws Exception {
    cli("migrate").done();
    assertThat(cli("check-producer").failed()).contains("PROBLEM: messages: there is none");

    byte[] json = "{\"total\": 1}".getBytes(UTF_8);
    produce("aggregate_id, headers", "'1', '[[\"a\", \"b\"], [\"a\", \"b\"]]'", json);
    produce("aggregate_id, dedup_key, available_at", "'2', 'd', '2100-01-01 00:00:00'", json);
    produce("aggregate_id, content_type", "'3', 'application/x-protobuf'", new byte[] {-1, 0});
    produce("aggregate_id, content_type", "'4', 'text/plain; charset=latin1'", new byte[] {-1});
    produce("aggregate_id, content_type", "'5', 'text/csv'", "ä".getBytes(UTF_8));
    produce(
        "aggregate_id, content_type",
        "'6', 'application/json-seq'",
        "\u001e{}\n\u001e{}\n".getBytes(UTF_8));
    produce("aggregate_id, content_type", "'7', 'text/csv;charset=\"latin1\"'", new byte[] {-1});
    produce("aggregate_id", "'8'", "\"[urgent] \\\"call\\\" me\"".getBytes(UTF_8));
    produce("aggregate_id, content_type", "'9', 'application/vnd.a!b+json ; v=1'", json);
    produce(
        "aggregate_id, dedup_key, status, attempts, last_error", "'10', 'd', 'DEAD', 3, 'x'", json);
    assertThat(cli("check-producer").done())
        .contains("10 looked at")
        .hasLineCount(10)
        .doesNotContain(": rule");
    assertThat(cli("check-producer", "--limit=2", "--json").out())
        .startsWith("{\"findings\": [{\"what\": \"messages\"")
        .contains("2 looked at");
    var ignored = query("delete from %s.outbox_message".formatted(schema));

    produce("aggregate_id, headers", "'1', '[[\"a\"]]'", json);
    assertBroken(1, "headers");
    produce("aggregate_id", "'1'", "{\"total\": 1}".getBytes(UTF_16LE));
    assertBroken(2, "is no JSON in UTF-8");
    produce("aggregate_id", "'1'", "\"{}\"".getBytes(UTF_8));
    assertBroken(2, "written as JSON twice");
    produce("aggregate_id", "'1'", "\" {\\u0022a\\u0022:\\n[\\\"b\\\"]}\"".getBytes(UTF_8));
    assertBroken(2, "written as JSON twice");
    for (String charset : List.of("", "; charset=\"UTF-8\"", ";a=b;charset=utf8")) {
      produce("aggregate_id, content_type", "'1', 'text/plain" + charset + "'", new byte[] {-1});
      assertBroken(2, "is no text in UTF-8");
    }
    produce("aggregate_id, content_type", "'1', 'application/x+json ;a=b'", new byte[] {-1});
    assertBroken(2, "is no JSON in UTF-8");
    produce("aggregate_id, content_type", "'1', 'json'", json);
    assertBroken(3, "has 'json'");
    produce("aggregate_id, headers", "'1', '{\"name\": \"J\uFFFDrg\"}'", json);
    assertBroken(4, "has U+FFFD");
    for (String column : List.of("aggregate_id", "aggregate_id, partition_key, correlation_id")) {
      String more = column.contains("key") ? ", 'k', 'c'" : "";
      produce(column, "'J\uFFFDrg'" + more, json);
      assertBroken(4, "has U+FFFD");
    }
    produce("aggregate_id, correlation_id", "'1', 'J\uFFFDrg'", json);
    assertBroken(4, "has U+FFFD");
    produce("aggregate_id", "'a'", json);
    produce("aggregate_id", "'A'", json);
    assertBroken(5, "has the key 'order/A', and another one 'order/a'");
    for (int i = 0; i < 2; i++) {
      produce("aggregate_id, id", "'1', '0197a6b0-5f0e-7c3e-9d1c-3f6f0b7a1d11'", json);
    }
    assertBroken(6, "has the id of message");
    for (int i = 0; i < 8; i++) {
      produce("aggregate_id, dedup_key", "'1', 'd'", json);
    }
    assertBroken(7, "; and 2 more");
    produce("aggregate_id, status", "'1', 'DEAD'", json);
    assertBroken(9, "is a dead letter that nobody has tried");
    produce("aggregate_id, created_at", "'1', '2999-01-01 00:00:00'", json);
    assertBroken(9, "was appended in the future");
  }

  @Override
  List<String> statuses() throws SQLException {
    return query("select status from %s.outbox_message".formatted(schema));
  }

  @Test
  @DisplayName(
      "status names the relay that holds something, and says when the oldest waits too long")
  void leasesAndAge() throws Exception {
    cli("migrate").done();
    query(
        """
        insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload, created_at)
        values ('order', '17', 'OrderPlaced', '', '2020-01-01 00:00:00')
        """
            .formatted(schema));
    assertThat(cli("status", "--max-age=1d").failed())
        .contains("none holds anything now", "TOO MUCH: the oldest message that is due waits ")
        .contains("--max-age is 86400.0 s")
        .containsPattern(
            "PROBLEM: delivery: standing still because no relay (lives|holds anything)\\b.*\\R  outbox ");
    cli("status", "--max-age=36500d").done();
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
      assertThat(
              Cli.run(Sql.options(server), (command + " --schema=not_there").split(" ")).refused())
          .contains("\"create schema not_there\"");
    }
  }

  @Test
  @DisplayName("a lock that a killed migration has left is named, with the statement that ends it")
  void leftLock() throws Exception {
    String table = schema + ".outbox_databasechangeloglock";
    query(
        "create table %s (id int primary key, locked boolean, lockgranted timestamp, lockedby varchar(255))"
            .formatted(table));
    query("insert into %s values (1, true, current_timestamp, 'the pod')".formatted(table));
    String minutes = "liquibase.changelogLockWaitTimeInMinutes";
    String seconds = "liquibase.changelogLockPollRate";
    System.setProperty(minutes, "0");
    System.setProperty(seconds, "1");
    Cli locked;
    try {
      locked = cli("migrate");
    } finally {
      System.clearProperty(minutes);
      System.clearProperty(seconds);
    }
    assertThat(locked.code()).isEqualTo(2);
    assertThat(locked.err()).contains("Currently locked by the pod since").hasLineCount(1);
    Matcher statement = Pattern.compile("\"(delete from [^\"]*)\"").matcher(locked.err());
    assertThat(statement.find()).as(locked.err()).isTrue();
    query(statement.group(1));
    cli("migrate").done();
  }

  @Test
  @DisplayName("a missing password is asked for by the variable's name, but of a relay")
  void noPassword(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("relay.properties");
    Files.writeString(
        file,
        "store.url=%s\nstore.user=%s\nkafka.bootstrap.servers=127.0.0.1:1\n"
            .formatted(server.jdbcUrl(), server.user()));
    assertThat(Cli.run("relay", "--config=" + file).err())
        .startsWith("outbox: cannot connect to ")
        .doesNotContain("OUTBOX_PASSWORD", "--password")
        .hasLineCount(1);
    assertThat(Cli.run("status", "--url=" + server.jdbcUrl(), "--user=" + server.user()).refused())
        .contains("OUTBOX_PASSWORD");
  }

  @Test
  @DisplayName("a wrong password is one sentence")
  void wrongPassword() {
    List<String> where = Sql.options(server).subList(0, 2);
    assertThat(Cli.run(where, "status", "--password=not-the-password").refused())
        .startsWith("outbox: cannot connect to jdbc:")
        .doesNotContain("not-the-password");
  }
}
