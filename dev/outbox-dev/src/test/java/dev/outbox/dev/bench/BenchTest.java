package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.cli.Address;
import dev.outbox.dev.bench.Report.Figure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** That each scenario runs and its figures are there and plausible; how fast is not looked at. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class BenchTest {
  private DatabaseServer server;

  abstract DatabaseServer server();

  /** As the report calls it. */
  abstract String name();

  @BeforeAll
  void start() {
    server = server();
  }

  @AfterAll
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  Report run(Scenario scenario, double scale, List<String> progress) throws Exception {
    CpuClock cpu = new CpuClock();
    cpu.add(server.embedded().stream().mapToLong(EmbeddedServer::pid).findFirst());
    return run(database(), cpu, scenario, scale, progress);
  }

  BenchDatabase database() {
    return new BenchDatabase(new Address(server.jdbcUrl(), server.user(), server.password()));
  }

  /** One run, after which the database is closed. */
  static Report run(
      BenchDatabase database, CpuClock cpu, Scenario scenario, double scale, List<String> progress)
      throws Exception {
    try (database) {
      Supplier<String> noBroker =
          () -> {
            throw new AssertionError("no broker is needed");
          };
      List<Report> reports = new ArrayList<>();
      new Bench(1, scale, database, cpu, noBroker, progress::add)
          .run(Set.of(scenario), reports::add);
      return reports.isEmpty() ? new Report(Map.of(), List.of(), Map.of()) : reports.get(0);
    }
  }

  @ParameterizedTest(name = "{0}: {2} lines")
  @DisplayName("each scenario reports all its lines beside a limit, and leaves nothing behind")
  @CsvSource({"INBOX, 0.02, 1", "PINNED, 0.002, 6"})
  void scenario(Scenario scenario, double scale, int lines) throws Exception {
    check(scenario, scale, lines);
  }

  @Test
  @DisplayName("held: beside nothing and a transaction that stays open, in five parts")
  void held() throws Exception {
    List<Line> lines = run(Scenario.HELD, 0.0005, new ArrayList<>()).lines();
    assertThat(lines)
        .hasSize(2 * 5 * 3)
        .allSatisfy(line -> assertThat(line.ours().median()).isPositive())
        .extracting(Line::name)
        .doesNotHaveDuplicates();
    assertThat(schemas()).isEmpty();
  }

  private Report check(Scenario scenario, double scale, int lines) throws Exception {
    List<String> progress = new ArrayList<>();
    Report report = run(scenario, scale, progress);
    assertThat(report.lines())
        .hasSize(lines)
        .allSatisfy(
            line -> {
              assertThat(line.scenario()).isEqualTo(scenario.toString());
              assertThat(line.ours().median()).isPositive();
              assertThat(line.limit().median()).isPositive();
            })
        .extracting(Line::name)
        .doesNotHaveDuplicates();
    assertThat(progress).isNotEmpty().allMatch(text -> text.startsWith(scenario.toString()));
    assertThat(schemas()).isEmpty();
    return report;
  }

  List<String> schemas() throws Exception {
    try (Connection connection =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "select schema_name from information_schema.schemata where schema_name like 'outbox!_bench!_%' escape '!'")) {
      List<String> names = new ArrayList<>();
      while (rows.next()) {
        names.add(rows.getString(1));
      }
      return names;
    }
  }

  @Test
  @DisplayName("drain: keys by workers, with the CPU time of a message")
  void drain() throws Exception {
    assertThat(check(Scenario.DRAIN, 0.006, 8).lines()).allSatisfy(this::assertKnown);
  }

  /** The server's CPU where we started it; how much, its clock of 10 ms need not show here. */
  private void assertKnown(Line line) {
    for (Figure figure : List.of(line.ours(), line.limit())) {
      assertThat(Double.isNaN(figure.cpu(CpuClock.Time::server)))
          .isEqualTo(server.embedded().isEmpty());
      assertThat(figure.cpu(CpuClock.Time::client)).isNotNegative();
    }
  }

  @Test
  @DisplayName("append: beside bare inserts and beside none, one message and ten")
  void append() throws Exception {
    assertThat(check(Scenario.APPEND, 0.02, 4).lines()).noneMatch(line -> line.ours().hasCpu());
  }

  @Test
  @DisplayName("work: what is asked and written for a message that is drained")
  void work() throws Exception {
    Map<String, Line> lines = byName(check(Scenario.WORK, 0.006, 8 * 3));
    for (int workers : List.of(1, 4)) {
      for (String keys : List.of("10,000 keys", "10 keys", "1 key", "unordered")) {
        String what = "%s, %s: ".formatted(keys, Draining.count(workers, "worker"));
        assertThat(ours(lines, what + "written")).isBetween(2.0, 2.5);
        assertThat(ours(lines, what + "statements")).isBetween(0.01, 1.0);
        // On MySQL, workers of so small a limit may deadlock and begin again.
        assertThat(limit(lines, what + "written")).isBetween(2.0, workers == 1 ? 2.0 : 5.0);
      }
    }
    // 1,200 messages are two batches.
    assertThat(limit(lines, "10,000 keys, 1 worker: statements")).isEqualTo(4.0 / 1_200);
  }

  static Map<String, Line> byName(Report report) {
    Map<String, Line> lines = new HashMap<>();
    report.lines().forEach(line -> lines.put(line.name(), line));
    assertThat(report.lines()).hasSize(lines.size());
    return lines;
  }

  static double ours(Map<String, Line> lines, String name) {
    assertThat(lines).containsKey(name);
    return lines.get(name).ours().median();
  }

  static double limit(Map<String, Line> lines, String name) {
    assertThat(lines).containsKey(name);
    return lines.get(name).limit().median();
  }

  @Test
  @DisplayName("archive: the table has a row a line, and says what it ran on")
  void archive() throws Exception {
    Report report = check(Scenario.ARCHIVE, 0.006, 4);
    assertThat(report.lines()).allSatisfy(this::assertKnown);
    List<String> rows = report.markdown().lines().filter(row -> row.startsWith("|")).toList();
    assertThat(rows).hasSize(2 + 4);
    assertThat(rows.get(0).split(" *\\| *"))
        .contains("case", "ours", "limit", "ratio", "server CPU", "client CPU", "CPU");
    assertThat(report.markdown())
        .startsWith(name())
        .contains("- CPU: ", "- database: " + name(), "- driver: ", "- archive: 200,000");
  }
}
