package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.cli.Address;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.TestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** That the scenarios with a broker run and their figures are there; how fast is not looked at. */
class KafkaScenariosTest {
  private static DatabaseServer postgres;
  private static TestServer kafka;

  @BeforeAll
  static void start() {
    postgres = DatabaseServer.postgres();
    kafka = TestServer.kafka();
  }

  @AfterAll
  static void stop() {
    kafka.close();
    postgres.close();
  }

  private static List<Line> run(Scenario scenario, double scale) throws Exception {
    try (BenchDatabase<?> database =
        BenchDatabase.open(new Address(postgres.jdbcUrl(), postgres.user(), postgres.password()))) {
      List<Line> lines = new ArrayList<>();
      new Bench(
              1,
              scale,
              database,
              new CpuClock(),
              kafka::address,
              text -> assertThat(text).startsWith(scenario.toString()))
          .run(Set.of(scenario), report -> lines.addAll(report.lines()));
      assertThat(lines).extracting(Line::name).doesNotHaveDuplicates();
      assertThat(lines)
          .allSatisfy(
              line -> {
                assertThat(line.scenario()).isEqualTo(scenario.toString());
                assertThat(line.ours().median()).isNotNegative();
              });
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
        Set<String> topics = admin.listTopics().names().get();
        assertThat(topics).noneMatch(name -> name.startsWith("outbox-bench"));
      }
      return lines;
    }
  }

  @Test
  @DisplayName("end-to-end: beside the producer, with a quota and without")
  void endToEnd() throws Exception {
    List<Line> lines = run(Scenario.END_TO_END, 0.01);
    assertThat(lines)
        .hasSize(2)
        .allSatisfy(line -> assertThat(line.limit().median()).isPositive());
  }

  @Test
  @DisplayName(
      "latency: a relay in two places, and handed over; two rates, to two ends, three percentiles that grow, and statements")
  void latency() throws Exception {
    List<Line> lines = run(Scenario.LATENCY, 0.001);
    int each = 2 * 3 + 1;
    assertThat(lines).hasSize(3 * 2 * each).noneMatch(Line::hasLimit);
    for (int i = 0; i < lines.size(); i += each) {
      for (int end = i; end < i + 2 * 3; end += 3) {
        assertThat(lines.subList(end, end + 3).stream().map(line -> line.ours().median()))
            .isSorted();
      }
      Line statements = lines.get(i + 2 * 3);
      assertThat(statements.name()).endsWith("statements");
      // The business row, the message, and what the relay asks.
      assertThat(statements.ours().median()).isGreaterThan(2);
      assertThat(statements.ours().cpu(CpuClock.Time::client)).isPositive();
    }
  }
}
