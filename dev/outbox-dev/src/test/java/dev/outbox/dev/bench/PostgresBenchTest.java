package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.cli.Failure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.TestServer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PostgresBenchTest extends BenchTest {
  private TestServer kafka;

  @Override
  DatabaseServer server() {
    return DatabaseServer.postgres();
  }

  @Override
  String name() {
    return "PostgreSQL 1";
  }

  @Test
  @DisplayName("what was measured is reported when a later scenario fails")
  void failure() throws Exception {
    List<Report> reports = new ArrayList<>();
    try (BenchDatabase database = database()) {
      Supplier<String> noBroker =
          () -> {
            throw new Failure("there is no broker");
          };
      Bench bench = new Bench(1, 0.02, database, new CpuClock(), noBroker, text -> {});
      assertThatThrownBy(
              () -> bench.run(EnumSet.of(Scenario.INBOX, Scenario.LATENCY), reports::add))
          .hasMessage("there is no broker");
    }
    assertThat(reports).singleElement().satisfies(report -> assertThat(report.lines()).hasSize(1));
  }

  @Test
  @DisplayName("fleet: what a small one costs")
  void fleet() throws Exception {
    Map<String, Line> lines = byName(run(Scenario.FLEET, 0.005, new ArrayList<>()));
    for (String who : List.of("1 pod", "2 pods", "2 relays in one process")) {
      assertThat(ours(lines, who + ", idle, statements")).isPositive();
      for (int rate : List.of(10, 200)) {
        String name = who + ", " + rate + "/s, ";
        assertThat(ours(lines, name + "p50")).isNotNegative();
        // The business row, the message, and what relays ask.
        assertThat(ours(lines, name + "statements")).isGreaterThan(2);
      }
    }
    assertThat(lines).hasSize(3 * (1 + 3 * 3));
    assertThat(schemas()).isEmpty();
  }

  @Test
  @DisplayName("fleet-ends: how long keys stand still when pods end")
  void ends() throws Exception {
    Map<String, Line> lines = byName(run(Scenario.FLEET_ENDS, 0.005, new ArrayList<>()));
    for (String how : List.of("one is killed", "one ends", "each is replaced")) {
      String name = "2 pods, " + how + ", standstill, ";
      assertThat(ours(lines, name + "max")).isPositive();
    }
    assertThat(lines).hasSize(3 * 3);
    assertThat(schemas()).isEmpty();
  }

  @AfterAll
  void stopKafka() {
    if (kafka != null) {
      kafka.close();
    }
  }

  private List<Line> runWithKafka(Scenario scenario, double scale) throws Exception {
    if (kafka == null) {
      kafka = TestServer.kafka();
    }
    List<Line> lines = new ArrayList<>();
    try (BenchDatabase database = database()) {
      new Bench(1, scale, database, new CpuClock(), kafka::address, text -> {})
          .run(Set.of(scenario), report -> lines.addAll(report.lines()));
    }
    assertThat(lines).extracting(Line::name).doesNotHaveDuplicates();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      Set<String> topics = admin.listTopics().names().get();
      assertThat(topics).noneMatch(name -> name.startsWith("outbox-bench"));
    }
    return lines;
  }

  @Test
  @DisplayName("end-to-end: beside the producer")
  void endToEnd() throws Exception {
    assertThat(runWithKafka(Scenario.END_TO_END, 0.01))
        .hasSize(1)
        .allSatisfy(line -> assertThat(line.ours().median()).isPositive())
        .allSatisfy(line -> assertThat(line.limit().median()).isPositive());
  }

  @Test
  @DisplayName(
      "latency: a relay in two places, and handed over; two rates, to two ends, two percentiles that grow, and statements")
  void latency() throws Exception {
    List<Line> lines = runWithKafka(Scenario.LATENCY, 0.001);
    int each = 2 * 2 + 1;
    assertThat(lines).hasSize(3 * 2 * each).noneMatch(Line::hasLimit);
    for (int i = 0; i < lines.size(); i += each) {
      for (int end = i; end < i + 2 * 2; end += 2) {
        assertThat(lines.subList(end, end + 2).stream().map(line -> line.ours().median()))
            .isSorted();
      }
      Line statements = lines.get(i + 2 * 2);
      assertThat(statements.name()).endsWith("statements");
      // The business row, the message, and what the relay asks.
      assertThat(statements.ours().median()).isGreaterThan(2);
      assertThat(statements.ours().cpu(CpuClock.Time::client)).isPositive();
    }
  }
}
