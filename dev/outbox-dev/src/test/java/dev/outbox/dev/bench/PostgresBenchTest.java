package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.cli.Failure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.DatabaseServer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PostgresBenchTest extends BenchTest {
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
    try (BenchDatabase<?> database = database()) {
      Supplier<String> noBroker =
          () -> {
            throw new Failure("there is no broker");
          };
      Bench bench = new Bench(1, 0.02, database, new CpuClock(), noBroker, text -> {});
      assertThatThrownBy(() -> bench.run(EnumSet.of(Scenario.INBOX, Scenario.LATENCY), reports::add))
          .hasMessage("there is no broker");
    }
    assertThat(reports)
        .singleElement()
        .satisfies(report -> assertThat(report.lines()).hasSize(1));
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
    assertThat(lines).hasSize(3 * (3 + 3 * 3));
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
}
