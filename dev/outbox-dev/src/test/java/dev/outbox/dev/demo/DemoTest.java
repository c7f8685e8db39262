package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.BrokerKind;
import dev.outbox.dev.database.StoreKind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opentest4j.TestAbortedException;

/** The whole demo, small. */
class DemoTest {

  @ParameterizedTest
  @CsvSource({
    "POSTGRES, KAFKA, Kafka",
    "MYSQL, KAFKA, Kafka",
    "MONGO, KAFKA, Kafka",
    "POSTGRES, RABBITMQ, RabbitMQ",
  })
  @DisplayName("messages get through a kill and an outage, and nothing is left behind")
  void small(StoreKind store, BrokerKind broker, String label) throws Exception {
    assumeThereIs(store);
    StringWriter text = new StringWriter();
    Demo.Settings settings = new Demo.Settings(300, 20, 2, 150, 42, store, null, broker, null);
    Set<Path> before = directories();

    int code = run(new Demo(settings, new PrintWriter(text)));

    String out = text.toString();
    assertThat(code).as(out).isZero();
    List<String> lines = out.lines().map(line -> line.strip().replaceAll(" +", " ")).toList();
    assertThat(lines).anyMatch(line -> line.startsWith("committed 300 transactions with "));
    assertThat(lines).contains("lost 0", "leaked 0", "order violations 0", "dead letters 0");
    assertThat(lines).contains("effects twice 0", "effects missing 0");
    assertThat(count(lines, "effects")).isEqualTo(count(lines, "delivered"));
    assertThat(out)
        .containsSubsequence(
            "seed 42",
            "the consumer was killed (SIGKILL), another one goes on",
            "relay A was killed (SIGKILL)",
            "relay C was started",
            "the broker was stopped",
            "the broker is back",
            "the consumer was killed (SIGKILL), another one goes on",
            "quiet times: nothing goes wrong, with 150 transactions a second");
    assertThat(out).containsPattern("in quiet times +p50 .* of [1-9]\\d+ messages in the end");
    assertThat(out)
        .contains("; " + label + " at ", "All that was committed is in " + label + ",")
        .contains("Next: README.md shows ");
    assertThat(ProcessHandle.current().children()).isEmpty();
    assertThat(directories()).isSubsetOf(before);
  }

  private static String count(List<String> lines, String name) {
    return lines.stream()
        .filter(line -> line.matches(name + " [\\d,]+ .*"))
        .map(line -> line.split(" ")[1])
        .findFirst()
        .orElseThrow();
  }

  private static void assumeThereIs(StoreKind store) {
    try {
      store.start().close();
    } catch (Failure e) {
      abortIfMissing(e);
    }
  }

  private static int run(Demo demo) throws InterruptedException {
    try {
      return demo.run();
    } catch (Failure e) {
      return abortIfMissing(e);
    }
  }

  private static int abortIfMissing(Failure e) {
    if (e.getCause() instanceof UnsupportedOperationException
        || e.getCause() instanceof TestAbortedException) {
      System.err.println("The demo's test is SKIPPED: " + e.getMessage());
      return abort(e.getMessage());
    }
    throw e;
  }

  private static Set<Path> directories() throws Exception {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .filter(f -> f.getFileName().toString().matches("outbox-demo-.*"))
          .collect(Collectors.toSet());
    }
  }
}
