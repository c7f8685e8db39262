package dev.outbox.dev.bench;

import static dev.outbox.dev.bench.BenchTest.limit;
import static dev.outbox.dev.bench.BenchTest.ours;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.outbox.cli.Address;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.embedded.TestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** That the scenarios run on MongoDB too, and that what is counted there is counted right. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MongoBenchTest {
  private final List<String> progress = new ArrayList<>();
  private TestServer server;

  @BeforeAll
  void start() {
    server = TestServer.mongo();
  }

  @AfterAll
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  /** Also asserts that nothing is left behind. */
  private Report run(Scenario scenario, double scale) throws Exception {
    BenchDatabase<?> database = BenchDatabase.open(new Address(server.address(), "", ""));
    String name = database.schema();
    Report report = BenchTest.run(database, new CpuClock(), scenario, scale, progress);
    try (MongoClient client = MongoClients.create(server.address())) {
      assertThat(client.listDatabaseNames().into(new ArrayList<>())).doesNotContain(name);
    }
    return report;
  }

  @Test
  @DisplayName("work: commands and documents written, beside a bare find and deletion")
  void work() throws Exception {
    Report report = run(Scenario.WORK, 0.006);
    Map<String, Line> lines = BenchTest.byName(report);
    for (String keys : List.of("10,000 keys", "1 key")) {
      String what = "drain, %s, 1 worker: ".formatted(keys);
      // 1,200 messages are two batches.
      assertThat(limit(lines, what + "commands")).isEqualTo(4.0 / 1_200);
      assertThat(limit(lines, what + "written")).isEqualTo(2.0);
      assertThat(ours(lines, what + "written")).isBetween(2.0, 3.0);
      assertThat(ours(lines, what + "commands")).isEqualTo(ours(lines, what + "round trips"));
    }
    for (String kept : List.of("metadata", "full")) {
      String what = "archive, %s, 1 worker: written".formatted(kept);
      assertThat(ours(lines, what)).isBetween(3.0, 4.0);
      assertThat(limit(lines, what)).isBetween(2.0, 3.0);
    }
    for (int messages : List.of(1, 10)) {
      String what = "append, " + Draining.count(messages, "message") + " a transaction: ";
      // The business row, the messages, and the commit.
      assertThat(limit(lines, what + "commands") * messages).isBetween(2.99, 3.01);
      assertThat(ours(lines, what + "commands") * messages).isBetween(2.99, 3.1);
      assertThat(ours(lines, what + "written")).isEqualTo(1.0);
      assertThat(limit(lines, what + "written")).isEqualTo(1.0);
    }
    assertThat(report.markdown())
        .startsWith("MongoDB ")
        .contains("- driver: MongoDB Java driver 5.", "- round trip of ping: ");
  }

  @ParameterizedTest
  @EnumSource(names = {"PINNED", "HELD"})
  @DisplayName("what needs something pinned is left out")
  void leftOut(Scenario scenario) throws Exception {
    assertThat(run(scenario, 0.002).lines()).isEmpty();
    assertThat(progress).contains(scenario + ": left out: nothing is pinned on this database");
  }
}
