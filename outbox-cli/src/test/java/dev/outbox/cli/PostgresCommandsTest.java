package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.SchemaException;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.ParentJvm;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PostgresCommandsTest extends JdbcCommandsTest {
  private static final String PASSWORD = "Xw3-r1ghtless";

  @Override
  DatabaseServer server() {
    return DatabaseServer.postgres();
  }

  @Override
  String cascade() {
    return " cascade";
  }

  @Test
  @DisplayName("check-producer finds what only PostgreSQL takes")
  void producersOfPostgres() throws Exception {
    cli("migrate").done();
    produce("aggregate_id", "' '", "{}".getBytes(UTF_8));
    assertBroken(1, "cannot be read: aggregateId is blank");
    produce("aggregate_id, available_at", "'1', 'infinity'", "{}".getBytes(UTF_8));
    assertBroken(8, "is due at ");
    produce("aggregate_id, expires_at", "'1', '2001-01-01'", "{}".getBytes(UTF_8));
    assertBroken(8, "expires before it is due, at 2001-01-01");
  }

  @Test
  @DisplayName("a role without rights is told what it lacks")
  void missingRights() throws Exception {
    assumeTrue(
        query("select rolsuper or rolcreaterole from pg_roles where rolname = current_user")
            .equals(List.of("t")),
        "the user of outbox.test.postgres.url may not create roles");
    cli("migrate").done();
    String role = schema + "_poor";
    query("create role %s login password '%s'".formatted(role, PASSWORD));
    try {
      assertThat(statusAs(role)).contains("there is no schema " + schema, "outbox grants prints");
      query("grant usage on schema %s to %s".formatted(schema, role));
      assertThat(statusAs(role))
          .contains("run: grant select on %s.outbox_schema to this user".formatted(schema));
    } finally {
      query("drop owned by %1$s; drop role %1$s".formatted(role));
    }
  }

  @Test
  @DisplayName("a relay that is told of an inbox purges it; one without its tables does not start")
  void purgesInbox() throws Exception {
    cli("migrate").done();
    Properties properties =
        relay("store.inboxPrefix=inbox_\nkafka.bootstrap.servers=127.0.0.1:1\n");
    assertThatThrownBy(() -> RelayProcess.start(properties).close())
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("inbox_schema");
    cli("migrate", "--inbox").done();
    query(
        """
        insert into %s.inbox_message (consumer, message_id, state, attempts, expires_at)
        select 'shipping', n, 'DONE', 1, now() + n * interval '1 day' from generate_series(-3, 2) n
        """
            .formatted(schema));
    try (RelayProcess ignored = RelayProcess.start(properties)) {
      await()
          .until(
              () ->
                  query("select message_id from %s.inbox_message order by 1".formatted(schema))
                      .equals(List.of("1", "2")));
    }
  }

  @Test
  @DisplayName("a relay that is told to serves its page; on a port that is taken it does not start")
  void servesPage() throws Exception {
    cli("migrate").done();
    Properties properties = relay("kafka.bootstrap.servers=127.0.0.1:1\nui.enabled=true\n");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      properties.put("server.port", Integer.toString(taken.getLocalPort()));
      assertThatThrownBy(() -> RelayProcess.start(properties).close())
          .isInstanceOf(Failure.class)
          .hasMessageContaining("the server cannot listen at 127.0.0.1, port");
    }
    try (RelayProcess process = RelayProcess.start(properties)) {
      assertThat(new Browser().get(URI.create(process.url())).body())
          .contains("nothing to do", schema);
    }
  }

  /** A relay that nobody closes. */
  static final class Forgetful {
    private Forgetful() {}

    public static void main(String[] args) throws Exception {
      ParentJvm parent = ParentJvm.connect();
      Properties properties = new Properties();
      properties.putAll(parent.settings());
      RelayProcess unused = RelayProcess.start(properties);
      parent.say("started");
      String unusedCommand = parent.command();
    }
  }

  @Test
  @DisplayName("a signal ends what has been started, also before the command knows of it")
  void signalAtStart() throws Exception {
    cli("migrate").done();
    Map<String, String> settings = new HashMap<>();
    relay("kafka.bootstrap.servers=127.0.0.1:1\n")
        .forEach((name, value) -> settings.put(name.toString(), value.toString()));
    String held = "select 1 from %s.outbox_bucket where claim_id is not null".formatted(schema);
    try (ChildJvm child = ChildJvm.start(Forgetful.class, settings)) {
      child.await("started");
      await().atMost(Duration.ofMinutes(1)).until(() -> !query(held).isEmpty());
      assertThat(ProcessHandle.of(child.pid()).orElseThrow().destroy()).isTrue();
      int unused = child.exitCode();
      assertThat(query(held)).isEmpty();
    }
  }

  @Test
  @DisplayName("where there is an archive, the page changes nothing before it is told what to keep")
  void pageWithArchive() throws Exception {
    cli("migrate", "--archive=full").done();
    assertThat(cli("ui", "--allow-changes", "--port=0").refused())
        .contains("this outbox has an archive", "--archive=full");
  }

  @Test
  @DisplayName("what leaves is archived, found, shown and replayed, and the audit says who did it")
  void archive() throws Exception {
    cli("migrate").done();
    assertThat(cli("archive", "find").refused())
        .startsWith("outbox: there is no archive, or one of another version")
        .contains("outbox migrate --archive=full", "outbox_archive_message");
    cli("migrate", "--archive=full").done();
    long dead = insertDead("broker said no");
    cli(
            "dead-letters",
            "discard",
            Long.toString(dead),
            "--archive=full",
            "--by=alice",
            "--why=was sent by hand")
        .done();
    Cli found = cli("archive", "find", "--limit=1");
    assertThat(found.out())
        .contains("DISCARDED", "OrderPlaced", "broker said no", Long.toString(dead));
    String after =
        found
            .out()
            .replaceAll("(?s).*There may be more: .*(--after=\\S+/%d)\\s+".formatted(dead), "$1");
    assertThat(cli("archive", "find", after).out()).contains("Nothing left from");
    assertThat(
            cli(
                    "archive",
                    "find",
                    "--limit=1",
                    "--outcome=discarded",
                    "--type=order",
                    "--key=order/17")
                .out())
        .containsPattern("There may be more: --from=\\S+ --to=\\S+ --after=\\S+/" + dead);
    assertThat(cli("archive", "find", "--type=other").out()).contains("Nothing left from");
    assertThat(cli("archive", "find", "--key=order/18").out()).contains("Nothing left from");
    assertThat(cli("archive", "find", "--outcome=delivered").out()).contains("Nothing left from");
    assertThat(cli("archive", "show", "--aggregate-id=17").out())
        .contains("%-13s %s".formatted("error", "broker said no"), "payload");
    assertThat(cli("archive", "replay", "--archive=full").refused()).contains("add --yes");
    assertThat(cli("archive", "replay", "--archive=full", "--yes").failed())
        .contains("0 messages left", "1 more left DISCARDED", "--outcome=discarded")
        .doesNotContain("replayed.\n0");
    assertThat(statuses()).isEmpty();
    assertThat(
            cli("archive", "replay", "--archive=full", "--yes", "--by=bob", "--outcome=discarded")
                .done())
        .contains("1 messages left", "1 replayed.");
    assertThat(statuses()).containsExactly("PENDING");
    assertThat(query("select headers from %s.outbox_message".formatted(schema)).get(0))
        .contains("[\"replay-of\"");
    assertThat(audit()).containsExactly("DISCARDED alice was sent by hand", "REPLAYED bob -");
  }

  @Test
  @DisplayName("payloads are shown as people read them, in the outbox and in the archive")
  void payloads() throws Exception {
    cli("migrate", "--archive=full").done();
    produce(
        "aggregate_id, status, content_type",
        "'1', 'DEAD', 'application/json'",
        "{\n\t\"a\": 1\n}".getBytes(UTF_8));
    List<String> shown = List.of("size  11 bytes", "      {", "        \"a\": 1", "      }");
    String sequence = query("select seq from %s.outbox_message".formatted(schema)).get(0);
    assertThat(payload(cli("messages", "show", sequence, "--payload"))).isEqualTo(shown);
    cli("dead-letters", "discard", "--all", "--yes", "--archive=full").done();
    assertThat(payload(cli("archive", "show", "--aggregate-id=1"))).isEqualTo(shown);
  }

  private static List<String> payload(Cli shown) {
    return shown
        .out()
        .lines()
        .filter(line -> line.startsWith("payload "))
        .map(line -> line.substring("payload ".length()))
        .toList();
  }

  private List<String> audit() throws SQLException {
    return query(
        "select action || ' ' || who || ' ' || coalesce(reason, '-') from %s.outbox_archive_audit order by id"
            .formatted(schema));
  }

  @Test
  @DisplayName("where there is an archive, a decision that was not told of it leaves no gap in it")
  void leavesNoGap() throws Exception {
    cli("migrate").done();
    String dead = Long.toString(insertDead("broker said no"));
    Cli noAudit = cli("dead-letters", "requeue", "--all", "--by=alice");
    assertThat(noAudit.refused()).contains("this outbox has none: leave them out");
    assertThat(noAudit.out()).isEmpty();
    assertThat(cli("dead-letters", "discard", dead, "--archive=full").refused())
        .contains("outbox_archive_schema", "migrate");

    cli("migrate", "--archive=full").done();
    for (List<String> command :
        List.of(
            List.of("discard", dead),
            List.of("discard", "--all", "--yes"),
            List.of("requeue", dead, "--by=alice"),
            List.of("requeue", "--all", "--why=mended"))) {
      Cli untold =
          cli(Stream.concat(Stream.of("dead-letters"), command.stream()).toArray(String[]::new));
      assertThat(untold.refused())
          .contains("this outbox has an archive", "add --archive=full")
          .contains(command.contains("requeue") ? "leave --by and --why out" : "--archive=none");
      assertThat(untold.out()).isEmpty();
    }
    assertThat(cli("dead-letters", "discard", dead, "--archive=none", "--why=gone").refused())
        .contains("with --archive=none nothing is written there");
    assertThat(statuses()).containsExactly("DEAD");
    cli("dead-letters", "requeue", dead).done();
    assertThat(statuses()).containsExactly("SCHEDULED");

    String other = Long.toString(insertDead("broker said no"));
    cli("dead-letters", "discard", other, "--archive=none").done();
    assertThat(statuses()).containsExactly("SCHEDULED");
    assertThat(cli("archive", "find").out()).contains("Nothing left from");
    assertThat(audit()).isEmpty();
  }

  @Test
  @DisplayName("all dead letters are decided about on one connection, some in each transaction")
  void decidesAboutAll() throws Exception {
    cli("migrate").done();
    query(
        """
        create table %1$s.seen (pid integer, transaction xid8, seq bigint);
        create function %1$s.see() returns trigger language plpgsql as $$ begin
          insert into %1$s.seen values (pg_backend_pid(), pg_current_xact_id(), old.seq);
          return coalesce(new, old);
        end $$;
        create trigger see before update or delete on %1$s.outbox_message
          for each row execute function %1$s.see();
        """
            .formatted(schema));
    for (String verb : List.of("requeue", "discard")) {
      query(
          """
          insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload, status)
          select 'order', n, 'OrderPlaced', '', 'DEAD' from generate_series(1, 1050) n
          """
              .formatted(schema));
      query("truncate %s.seen".formatted(schema));
      String[] command = {"dead-letters", verb, "--all", "--yes"};
      Cli all = cli(verb.equals("discard") ? command : Arrays.copyOf(command, 3));
      assertThat(all.done()).contains("1050 %sed.".formatted(verb.replaceFirst("e$", "")));
      assertThat(all.err().lines())
          .hasSize(11)
          .contains("1000 of 1050 %sed".formatted(verb.replaceFirst("e$", "")));
      assertThat(
              query(
                  "select format('%%s %%s %%s', count(distinct seq), count(*), count(distinct pid)) from %s.seen"
                      .formatted(schema)))
          .as("letters, changes and sessions")
          .containsExactly("1050 1050 1");
      assertThat(
              query(
                  "select max(n) from (select count(*) n from %s.seen group by transaction) t"
                      .formatted(schema)))
          .as("the most letters of a transaction")
          .containsExactly("100");
    }
  }

  private String statusAs(String role) {
    return Cli.run(
            "status",
            "--url=" + url(),
            "--user=" + role,
            "--password=" + PASSWORD,
            "--schema=" + schema)
        .refused();
  }
}
