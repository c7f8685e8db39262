package dev.outbox.dev.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.cli.Address;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.DatabaseServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** That each broker is measured, or said to be left out; how fast is not looked at. */
class PublishScenarioTest {

  @Test
  @DisplayName("publish: each broker that is here, beside its own client")
  void publish() throws Exception {
    List<String> progress = new ArrayList<>();
    List<Line> lines;
    try (DatabaseServer postgres = DatabaseServer.postgres()) {
      BenchDatabase<?> database =
          BenchDatabase.open(new Address(postgres.jdbcUrl(), postgres.user(), postgres.password()));
      lines = BenchTest.run(database, new CpuClock(), Scenario.PUBLISH, 0.05, progress).lines();
    }
    long leftOut = progress.stream().filter(text -> text.startsWith("publish: left out: ")).count();
    assertThat(lines).hasSize(3 - (int) leftOut);
    assertThat(lines.get(lines.size() - 1).name()).as("what needs no package").startsWith("HTTP");
    assertThat(lines)
        .allSatisfy(
            line -> {
              assertThat(line.ours().median()).isPositive();
              assertThat(line.limit().median()).isPositive();
              assertThat(line.ours().cpu(CpuClock.Time::client)).isPositive();
            });
  }
}
