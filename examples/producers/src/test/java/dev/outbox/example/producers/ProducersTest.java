package dev.outbox.example.producers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The examples append with the rights of a producer and no more, and our relay publishes. */
class ProducersTest {
  private static final String NAME =
      "outbox_languages_" + UUID.randomUUID().toString().replace('-', '_').substring(0, 13);
  private static final String PRODUCER = NAME + "_producer";
  private static final String RELAY = NAME + "_relay";

  private static DatabaseServer server;
  private static PostgresOutboxStore outbox;

  @TempDir Path directory;

  @BeforeAll
  static void start() throws SQLException {
    server = DatabaseServer.postgres();
    assumeTrue(
        query("select rolsuper or rolcreaterole from pg_roles where rolname = current_user")
            .equals("t"),
        "the user of outbox.test.postgres.url may not create roles");
    execute("create schema " + NAME);
    PGSimpleDataSource owner = dataSource();
    owner.setCurrentSchema(NAME);
    outbox = PostgresOutboxStore.of(owner);
    outbox.migrate();
    for (String role : List.of(PRODUCER, RELAY)) {
      execute("create role %s login password '%s'".formatted(role, NAME));
      execute("alter role %s set search_path to %s".formatted(role, NAME));
      execute("grant usage on schema %s to %s".formatted(NAME, role));
    }
    execute("set search_path to %s; %s".formatted(NAME, outbox.grants(PRODUCER, RELAY)));
  }

  @AfterAll
  static void stop() throws SQLException {
    if (outbox != null) {
      execute("drop schema %s cascade".formatted(NAME));
      execute("drop owned by %1$s, %2$s; drop role %1$s, %2$s".formatted(PRODUCER, RELAY));
    }
    server.close();
  }

  private static PGSimpleDataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(server.jdbcUrl());
    dataSource.setUser(server.user());
    dataSource.setPassword(server.password());
    return dataSource;
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(String sql) throws SQLException {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  /** As psql reads it. */
  private static Map<String, String> database() {
    URI address = URI.create(server.jdbcUrl().substring("jdbc:".length()));
    return Map.of(
        "PGHOST", address.getHost(),
        "PGPORT", Integer.toString(address.getPort() < 0 ? 5432 : address.getPort()),
        "PGDATABASE", address.getPath().substring(1),
        "PGUSER", PRODUCER,
        "PGPASSWORD", NAME,
        "PGSSLMODE", System.getenv().getOrDefault("PGSSLMODE", "disable"));
  }

  private List<OutboxMessage> published() {
    RelayOnce.Outcome outcome = RelayOnce.run(outbox, new RecordingPublisher());
    assertThat(outcome.retried()).isEmpty();
    assertThat(outcome.dead()).isEmpty();
    return outcome.delivered().stream().map(StoredMessage::message).toList();
  }

  @ParameterizedTest
  @EnumSource
  @DisplayName("what a producer appends is published exactly and in order, or refused by its limit")
  void exactlyOrRefused(Language language) throws Exception {
    long seed = System.nanoTime();
    List<Line> accepted = Lines.accepted(new Random(seed));
    Map<Line, String> refused = Lines.refused();
    List<String> in = new ArrayList<>();
    accepted.forEach(line -> in.add(line.json()));
    refused.keySet().forEach(line -> in.add(line.json()));
    String dedup = Line.of("dedup").with("dedup_key", "once by " + language).json();
    in.addAll(List.of(dedup, dedup));
    // Go's reader of JSON puts U+FFFD in its place before the example can see it.
    boolean half = language != Language.GO;
    if (half) {
      in.add(Lines.half().json());
    }

    List<String> out = language.append(in, database(), directory);

    assertThat(out).as("one answer for each of the lines").hasSameSizeAs(in);
    List<OutboxMessage> expected = new ArrayList<>();
    int at = 0;
    for (Line line : accepted) {
      Map<?, ?> said = Line.said(out.get(at++));
      assertThat(said.get("id")).as("%s", said).isNotNull();
      expected.add(line.message(UUID.fromString((String) said.get("id"))));
    }
    for (Map.Entry<Line, String> line : refused.entrySet()) {
      Map<?, ?> said = Line.said(out.get(at++));
      assertThat((String) said.get("error"))
          .as("%.200s", line.getKey().json())
          .containsPattern(line.getValue())
          .doesNotContain("DETAIL", "Failing row");
    }
    Map<?, ?> once = Line.said(out.get(at++));
    UUID id = UUID.fromString((String) once.get("id"));
    expected.add(Line.of("dedup").with("dedup_key", "once by " + language).message(id));
    assertThat(Line.said(out.get(at++)).get("duplicate")).isEqualTo(true);
    if (half) {
      assertThat(Line.said(out.get(at)).get("error")).isNotNull();
    }

    List<OutboxMessage> published = published();
    assertThat(published).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(published.stream().filter(m -> m.aggregateId().equals("in order")))
        .containsExactlyElementsOf(
            expected.stream().filter(m -> m.aggregateId().equals("in order")).toList());
  }

  /** There is no runtime to run it with: its statements are what can be tried. */
  @Test
  @DisplayName("the statements of the example in C# append with the rights of a producer")
  void statementsOfCsharp() throws Exception {
    Matcher texts =
        Pattern.compile("string (\\w+) = \"\"\"(.*?)\"\"\";", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("csharp/Outbox.cs"), UTF_8));
    PGSimpleDataSource producer = dataSource();
    producer.setUser(PRODUCER);
    producer.setPassword(NAME);
    List<String> names = new ArrayList<>();
    try (Connection connection = producer.getConnection();
        Statement statement = connection.createStatement()) {
      while (texts.find()) {
        names.add(texts.group(1));
        // The types that Npgsql sends.
        statement.execute(
            "prepare %s %s as %s"
                .formatted(
                    texts.group(1),
                    texts.group(1).equals("Dedup")
                        ? "(text)"
                        : "(text, text, text, text, bytea, text, text, text, text)",
                    texts.group(2)));
      }
      assertThat(names).containsExactly("Dedup", "Insert");
      statement.execute("execute Dedup('once by C#')");
      statement.execute("execute Dedup('once by C#')");
      assertThat(statement.getUpdateCount()).isZero();
      statement.execute(
          "execute Insert('order', 'C#', 'OrderPaid', null, '\\x007b7d', 'text/plain',"
              + " '[[\"tenant\",\"a\"]]', null, 'once by C#')");
    }
    OutboxMessage message =
        published().stream().filter(m -> m.aggregateId().equals("C#")).findFirst().orElseThrow();
    assertThat(message.payload()).isEqualTo(new byte[] {0, '{', '}'});
    assertThat(message)
        .isEqualTo(
            OutboxMessage.builder()
                .id(message.id())
                .aggregate("order", "C#")
                .eventType("OrderPaid")
                .payload(new byte[] {0, '{', '}'})
                .contentType("text/plain")
                .header("tenant", "a")
                .dedupKey("once by C#")
                .build());
  }
}
