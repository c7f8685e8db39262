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
  @DisplayName("work: commands by name, and documents written, beside a bare find and deletion")
  void work() throws Exception {
    Map<String, Line> lines = BenchTest.byName(run(Scenario.WORK, 0.006));
    for (String what : List.of("drain, 10,000 keys: ", "drain, 1 key: ")) {
      // 1,200 messages are two batches.
      assertThat(limit(lines, what + "commands")).isEqualTo(4.0 / 1_200);
      assertThat(limit(lines, what + "find")).isEqualTo(2.0 / 1_200);
      assertThat(limit(lines, what + "delete")).isEqualTo(2.0 / 1_200);
      assertThat(limit(lines, what + "written")).isEqualTo(2.0);
      assertThat(ours(lines, what + "written")).isBetween(2.0, 3.0);
      assertThat(ours(lines, what + "commitTransaction")).isPositive();
      assertThat(ours(lines, what + "commands"))
          .isEqualTo(ours(lines, what + "round trips"))
          .isGreaterThan(ours(lines, what + "commitTransaction"));
    }
    for (int messages : List.of(1, 10)) {
      String what = "append, " + Draining.count(messages, "message") + " a transaction: ";
      for (double insert : List.of(ours(lines, what + "insert"), limit(lines, what + "insert"))) {
        assertThat(insert).isEqualTo(2.0 / messages);
      }
      assertThat(ours(lines, what + "commitTransaction")).isEqualTo(1.0 / messages);
      assertThat(ours(lines, what + "written")).isEqualTo(1.0);
      assertThat(limit(lines, what + "written")).isEqualTo(1.0);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PINNED", "HELD"})
  @DisplayName("what needs something pinned is left out")
  void leftOut(Scenario scenario) throws Exception {
    assertThat(run(scenario, 0.002).lines()).isEmpty();
    assertThat(progress).contains(scenario + ": left out: nothing is pinned on this database");
  }

  @Test
  @DisplayName("archive: a message is one document more than without")
  void archive() throws Exception {
    Report report = run(Scenario.ARCHIVE, 0.006);
    assertThat(report.lines())
        .hasSize(4)
        .allSatisfy(line -> assertThat(line.ours().median()).isPositive())
        .allSatisfy(line -> assertThat(line.ours().cost().messageRows()).isEqualTo(3.0))
        .allSatisfy(line -> assertThat(line.limit().cost().messageRows()).isEqualTo(2.0));
    assertThat(report.markdown())
        .startsWith("MongoDB ")
        .contains("- driver: MongoDB Java driver 5.", "- round trip of ping: ");
  }
}
