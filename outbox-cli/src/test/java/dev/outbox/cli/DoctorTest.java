package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.Ports;
import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("An operator finds by doctor, and mends by what it says to type")
class DoctorTest {
  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  private static EmbeddedPostgres server;

  private final String schema = "doctor" + SCHEMAS.incrementAndGet();
  private final String role = schema + "_relay";
  private final int port = Ports.free();

  @TempDir private Path folder;
  private Path config;
  private Endpoint endpoint;

  @BeforeAll
  static void start() {
    server = EmbeddedPostgres.builder().setting("max_prepared_transactions", "5").start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void make() throws Exception {
    query("create schema %1$s; create role %2$s login password '%2$s'".formatted(schema, role));
    outbox("migrate").done();
    query(outbox("grants", "--producer=" + role, "--relay=" + role).out());
    endpoint = new Endpoint(port);
    config = folder.resolve("relay.properties");
    Files.writeString(config, config(server.jdbcUrl()));
  }

  private String config(String url) {
    return """
    store.url=%s
    store.user=%s
    store.password=%s
    store.schema=%s
    relay.lease=2s
    relay.haltKeyWhenDead=account
    """
            .formatted(url, role, role, schema)
        + endpoint.settings("{aggregateType}");
  }

  @AfterEach
  void end() throws SQLException {
    endpoint.close();
    query("drop schema %s cascade; drop owned by %2$s; drop role %2$s".formatted(schema, role));
  }

  private static List<String> query(String sql) throws SQLException {
    return Sql.query(server, sql);
  }

  private Cli outbox(String... arguments) {
    return Cli.run(
        Stream.concat(Sql.options(server).stream(), Stream.of("--schema=" + schema)).toList(),
        arguments);
  }

  private static ConditionFactory awaiting() {
    return await().atMost(Duration.ofMinutes(2));
  }

  private Cli doctor() {
    return Cli.run("doctor", "--config=" + config);
  }

  private RelayProcess relay() throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(Files.readString(config)));
    return RelayProcess.start(properties);
  }

  private void append(String type, String id) throws SQLException {
    query(
        "insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload) values ('%s', '%s', 'Changed', '')"
            .formatted(schema, type, id));
  }

  private String messages() throws SQLException {
    return query("select count(*) from %s.outbox_message".formatted(schema)).get(0);
  }

  /** What to type about something, which is wrong. */
  private static String remedy(String doctor, String what) {
    List<String> lines = doctor.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).matches("(PROBLEM|WARNING): " + what + ": .*")) {
        return lines.get(i + 1).strip();
      }
    }
    throw new AssertionError(what + " is not said to be wrong: " + doctor);
  }

  /** Types the first of what is proposed. */
  private void type(String remedy) throws SQLException {
    if (remedy.startsWith("outbox ")) {
      String first = remedy.split(", or |; ")[0];
      outbox(first.substring("outbox ".length()).split(" ")).done();
    } else {
      List<String> ignored = query(remedy.split("; or,")[0]);
    }
  }

  @Test
  @DisplayName("a right that is missing")
  void missingRight() throws Exception {
    assertThat(doctor().lines())
        .contains("rights fine", "settings fine", "clock fine", "delivery nothing to do")
        .contains("broker http://127.0.0.1:%d/{aggregateType} answers".formatted(port));
    query("revoke update on %s.outbox_bucket from %s".formatted(schema, role));
    String found = doctor().failed();
    assertThat(found).contains("PROBLEM: rights: the relay's user lacks rights");
    type(remedy(found, "rights"));
    doctor().done();

    query("revoke select on %s.outbox_message from %s".formatted(schema, role));
    String blind = doctor().failed();
    assertThat(blind).contains("PROBLEM: figures: ", "run: grant select");
    type(remedy(blind, "rights"));
    doctor().done();
  }

  @Test
  @DisplayName("a broker that is away")
  void deadBroker() throws Exception {
    endpoint.close();
    String found = doctor().failed();
    assertThat(found)
        .contains("PROBLEM: broker: http://127.0.0.1:%d/{aggregateType} cannot".formatted(port));
    assertThat(remedy(found, "broker")).startsWith("start it");
    endpoint = new Endpoint(port);
    doctor().done();
  }

  @Test
  @DisplayName(
      "a halted key, a message that the broker never takes, and one that it does not take now")
  void stuck() throws Exception {
    endpoint.answers.putAll(Map.of("account", 422, "order", 422, "mail", 503));
    append("order", "1");
    append("account", "1");
    append("account", "1");
    append("mail", "1");
    try (RelayProcess ignored = relay()) {
      awaiting()
          .untilAsserted(
              () ->
                  assertThat(doctor().out())
                      .containsPattern(
                          "PROBLEM: halted key: key account/1 is halted by dead letter \\d+, 1 behind it \\(.*422")
                      .containsPattern(
                          "WARNING: failed key: 1 key is waiting for a retry, as key mail/1 behind message \\d+, tried \\d+ times \\(.*503")
                      .containsPattern(
                          "WARNING: dead letters: 2 dead letters wait for a decision, as \\d+ of key order/1 \\(.*422"));
      String found = doctor().failed();
      type(remedy(found, "failed key"));
      endpoint.answers.clear();
      type(remedy(found, "halted key"));
      type(remedy(found, "dead letters"));
      awaiting().until(() -> messages().equals("0"));
      assertThat(doctor().done()).doesNotContain("PROBLEM", "key", "dead letter");
    }
  }

  @Test
  @DisplayName("a relay that was lost")
  void lostRelay() throws Exception {
    Files.writeString(config, config(server.jdbcUrl()) + "relay.workers=1\n");
    Process lost =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "relay",
                "--config=" + config)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    try {
      awaiting().until(() -> doctor().out().matches("(?s).*relays +1 live.*"));
    } finally {
      lost.destroyForcibly().waitFor();
    }
    append("order", "1");
    awaiting().until(() -> doctor().out().contains("standing still because no relay lives"));
    String found = doctor().failed();
    assertThat(remedy(found, "delivery")).isEqualTo("outbox relay --config relay.properties");
    try (RelayProcess ignored = relay()) {
      awaiting().until(() -> messages().equals("0") && doctor().code() == 0);
    }
  }

  @Test
  @DisplayName("a prepared transaction that was forgotten")
  void forgotten() throws Exception {
    query(
        """
        create view %1$s.pg_prepared_xacts as
        select gid, owner, database, prepared - interval '1 day' as prepared
        from pg_catalog.pg_prepared_xacts;
        grant select on %1$s.pg_prepared_xacts to %2$s
        """
            .formatted(schema, role));
    String url =
        server.jdbcUrl()
            + (server.jdbcUrl().contains("?") ? "&" : "?")
            + "options=-c%20search_path="
            + schema
            + ",pg_catalog";
    Files.writeString(config, config(url));
    query("begin; select pg_current_xact_id(); prepare transaction 'forgotten'");
    String found = doctor().done(); // it lasts, and messages are delivered
    assertThat(found).contains("a prepared transaction, 'forgotten' of user ");
    for (String limit : List.of("--max-dead=0", "--json")) {
      Cli status =
          Cli.run(
              List.of("--user=" + role, "--password=" + role, "--schema=" + schema),
              "status",
              limit,
              "--url=" + url);
      assertThat(status.done()).contains("a prepared transaction, 'forgotten' of user ");
    }
    type(remedy(found, "open transactions"));
    assertThat(doctor().out())
        .doesNotContain("forgotten")
        .containsPattern("open transactions +fine");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  @DisplayName("a disk of the database that is full")
  void fullDisk() throws Exception {
    Path data = Path.of(query("show data_directory").get(0));
    Path disk = Files.createDirectory(data.resolveSibling("disk")); // the server may go there
    Object owner = Files.getAttribute(data, "unix:uid");
    assumeTrue(
        isRun("mount", "-t", "tmpfs", "-o", "size=1m,uid=" + owner, "none", disk.toString()),
        "needs the right to mount a small disk");
    try {
      query("create tablespace small location '%s'".formatted(disk));
      query("alter table %s.outbox_message set tablespace small".formatted(schema));
      for (int rows : List.of(100, 1)) {
        assertThatExceptionOfType(SQLException.class)
            .isThrownBy(() -> fill(rows))
            .extracting(SQLException::getSQLState)
            .isEqualTo("53100");
      }
      int port = Ports.free();
      Files.writeString(config, config(server.jdbcUrl()) + "server.port=" + port + "\n");
      endpoint.answers.put("order", 422); // as dead letters they are written anew
      try (RelayProcess ignored = relay()) {
        awaiting()
            .untilAsserted(
                () ->
                    assertThat(get(port, "/health/ready").body())
                        .contains("PROBLEM: relay: ", "no disk space"));
        assertThat(isRun("mount", "-o", "remount,size=64m", disk.toString())).isTrue();
        awaiting()
            .untilAsserted(
                () -> assertThat(doctor().out()).contains("dead letters wait for a decision"));
        endpoint.answers.clear();
        awaiting()
            .until(
                () ->
                    outbox("dead-letters", "requeue", "--all").code() == 0
                        && messages().equals("0"));
        doctor().done();
      }
    } finally {
      try {
        query("alter table %s.outbox_message set tablespace pg_default".formatted(schema));
        query("drop tablespace if exists small");
      } finally {
        assertThat(isRun("umount", "--lazy", disk.toString())).isTrue();
      }
    }
  }

  /** Appends messages until that fails. */
  private void fill(int rows) throws SQLException {
    while (true) {
      query(
          """
          insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload)
          select 'order', n, 'Changed',
            (select string_agg(sha512((n + i)::text::bytea), '') from generate_series(1, 30) i)
          from generate_series(1, %d) n
          """
              .formatted(schema, rows));
    }
  }

  private static boolean isRun(String... command) throws Exception {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) { // there is no such program
      return false;
    }
  }

  @Test
  @DisplayName("a schema that is not there; and is told when it could not ask")
  void cannotAsk() throws Exception {
    query("drop table %s.outbox_schema".formatted(schema));
    assertThat(outbox("doctor", "--json").failed())
        .startsWith("{\"findings\": [{\"what\": \"schema\", \"severity\": \"problem\", ")
        .contains("outbox migrate")
        .endsWith("\"remedy\": null}]}" + System.lineSeparator());
    for (String wrong :
        List.of(
            "doctor --url=jdbc:postgresql://127.0.0.1:1/x",
            "doctor",
            "doctor --url=x --config=" + config,
            "doctor --prefix=my_ --config=" + config)) {
      Cli asked = Cli.run(wrong.split(" "));
      assertThat(asked.code()).as(wrong).isEqualTo(Main.NOT_DONE);
      assertThat(asked.out()).isEmpty();
    }
  }

  private static HttpResponse<String> get(int port, String path) {
    return new Browser().get(URI.create("http://127.0.0.1:%d%s".formatted(port, path)));
  }

  @Test
  @DisplayName(
      "what a relay serves: that it lives, whether it is ready and why not, and the meters")
  void served() throws Exception {
    int served = Ports.free();
    Files.writeString(config, config(server.jdbcUrl()) + "server.port=" + served + "\n");
    List<String> meters = meters();
    assertThat(meters).hasSizeGreaterThan(15);
    append("order", "1");
    try (RelayProcess ignored = relay()) {
      awaiting()
          .untilAsserted(
              () ->
                  assertThat(get(served, "/metrics").body())
                      .contains("outbox_delivered_total{aggregate_type=\"order\"} 1.0")
                      .contains("outbox_messages{status=\"pending\"} "));
      HttpResponse<String> metrics = get(served, "/metrics");
      assertThat(metrics.headers().firstValue("Content-Type"))
          .contains("text/plain; version=0.0.4; charset=utf-8");
      assertThat(meters).allSatisfy(meter -> assertThat(metrics.body()).contains("\n" + meter));
      assertThat(get(served, "/health/live").statusCode()).isEqualTo(200);
      HttpResponse<String> ready = get(served, "/health/ready");
      assertThat(ready.statusCode()).as(ready.body()).isEqualTo(200);
      assertThat(ready.body()).contains("schema " + schema, "reachable");
      assertThat(get(served, "/").statusCode()).as("no page").isEqualTo(404);

      query("revoke all on %s.outbox_message from %s".formatted(schema, role));
      awaiting()
          .untilAsserted(
              () ->
                  assertThat(get(served, "/health/ready").body())
                      .contains("PROBLEM: relay: nothing is published: ", "run: grant "));
      assertThat(get(served, "/health/ready").statusCode()).isEqualTo(503);
      assertThat(get(served, "/health/live").statusCode()).isEqualTo(200);
      query("grant select, update, delete on %s.outbox_message to %s".formatted(schema, role));
      awaiting().until(() -> get(served, "/health/ready").statusCode() == 200);
      append("order", "2");
      awaiting().until(() -> messages().equals("0"));

      server.kill();
      HttpResponse<String> away = get(served, "/health/ready");
      assertThat(away.statusCode()).as(away.body()).isEqualTo(503);
      assertThat(away.body()).contains("PROBLEM: database: ");
      assertThat(get(served, "/health/live").statusCode()).isEqualTo(200);
      server.restart();
      awaiting().until(() -> get(served, "/health/ready").statusCode() == 200);

      query("drop table %s.outbox_schema".formatted(schema));
      assertThat(get(served, "/health/ready").body()).contains("PROBLEM: schema: ", "migrate");
    }
  }

  /** Prometheus' names of those that the page about metrics names. */
  private static List<String> meters() throws IOException {
    return Files.readAllLines(Path.of("../docs/metrics.md")).stream()
        .filter(line -> line.startsWith("| `outbox."))
        .map(line -> line.replaceAll("^\\| `([^`]+)`.*", "$1").replace('.', '_'))
        .toList();
  }
}
