package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.cli.Failure;
import dev.outbox.dev.Cli;
import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.BrokerKind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
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
    "POSTGRES, HTTP, the HTTP receiver",
  })
  @DisplayName("messages get through a kill and an outage, and nothing is left behind")
  void small(StoreKind store, BrokerKind broker, String label) throws Exception {
    assumeThereIs(store);
    StringWriter text = new StringWriter();
    DemoSettings settings = new DemoSettings(300, 20, 2, 150, 42, store, null, broker, null, false);
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
        .contains("Next: --keep leaves ");
    assertThat(ProcessHandle.current().children()).isEmpty();
    assertThat(directories()).isSubsetOf(before);
  }

  @Test
  @DisplayName("--keep leaves the servers running, and says how to look, until it is ended")
  void keep() throws Exception {
    StringWriter text = new StringWriter();
    DemoSettings settings =
        new DemoSettings(
            50, 10, 2, 150, 43, StoreKind.POSTGRES, null, BrokerKind.KAFKA, null, true);
    AtomicReference<Throwable> ended = new AtomicReference<>();
    Thread demo =
        new Thread(
            () -> {
              try {
                int unused = new Demo(settings, new PrintWriter(text)).run();
              } catch (InterruptedException | RuntimeException e) {
                ended.set(e);
              }
            });
    demo.start();
    await()
        .atMost(Duration.ofMinutes(10))
        .until(() -> !demo.isAlive() || text.toString().contains("kafka-console-consumer.sh"));
    try {
      assertThat(text.toString()).contains("Database and Kafka run until Ctrl-C:");
      assertThat(run(text.toString(), "status").out()).containsPattern("pending +0");
      assertThat(run(text.toString(), "demo-read").out().lines())
          .hasSizeGreaterThan(10)
          .allMatch(line -> line.matches("\\d:\\d+  \\S+  Item\\w+  .*"));
    } finally {
      demo.interrupt();
      demo.join();
    }
    assertThat(ended.get()).isInstanceOf(InterruptedException.class);
    assertThat(ProcessHandle.current().children()).isEmpty();
  }

  /** Runs the command that the demo has printed. */
  private static Cli run(String out, String command) {
    Matcher line =
        Pattern.compile("(OUTBOX_PASSWORD=(\\S+) )?\\./outbox (" + command + " .*)").matcher(out);
    assertThat(line.find()).as(out).isTrue();
    String password = line.group(2) == null ? "" : " --password=" + line.group(2);
    Cli cli = Cli.run((line.group(3).replace("\"", "") + password).split(" "));
    assertThat(cli.code()).as(cli.err()).isZero();
    return cli;
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
