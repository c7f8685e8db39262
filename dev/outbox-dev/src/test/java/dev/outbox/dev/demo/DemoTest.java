package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.StoreKind;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;
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
    "POSTGRES, KAFKA, Kafka, true",
    "MYSQL, KAFKA, Kafka, false",
    "MONGO, KAFKA, Kafka, false",
    "POSTGRES, RABBITMQ, RabbitMQ, false",
  })
  @DisplayName("messages get through a kill and an outage, and nothing is left behind")
  void small(StoreKind store, Broker.Kind broker, String label, boolean ui) throws Exception {
    assumeThereIs(store);
    StringWriter text = new StringWriter();
    Demo.Settings settings = new Demo.Settings(300, 20, 2, 150, 42, store::start, broker, null, ui);
    Set<Path> before = directories();

    Demo demo = new Demo(settings, new PrintWriter(text));
    int code = ui ? runWithPage(demo, text) : run(demo);

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

  /** With a person at the terminal. */
  private static int runWithPage(Demo demo, StringWriter text) throws Exception {
    InputStream before = System.in;
    System.setProperty("outbox.terminal.in", "true");
    try (PipedOutputStream keys = new PipedOutputStream();
        InputStream in = new PipedInputStream(keys)) {
      System.setIn(in);
      FutureTask<Boolean> person = new FutureTask<>(() -> look(text, keys));
      Thread thread = new Thread(person, "person");
      thread.setDaemon(true);
      thread.start();
      int code = run(demo);
      assertThat(person.get()).isTrue();
      return code;
    } finally {
      System.setIn(before);
      System.clearProperty("outbox.terminal.in");
    }
  }

  /** Looks at the page while the demo runs, and when it is over; then Enter, whatever was seen. */
  private static boolean look(StringWriter text, OutputStream keys) throws Exception {
    try (keys) {
      URI page = URI.create(printed(text, "the operator's page: (\\S+)"));
      assertThat(get(page)).contains("outbox_demo_", "Messages by state");
      String end = printed(text, "(Enter ends it)");
      assertThat(get(page)).as(end).contains("nothing to do", "2 relays live.");
      keys.write('\n');
      return true;
    }
  }

  private static String printed(StringWriter text, String pattern) {
    Pattern sought = Pattern.compile(pattern);
    return await()
        .atMost(Duration.ofMinutes(5))
        .until(
            () -> sought.matcher(text.toString()).results().map(found -> found.group(1)).findAny(),
            Optional::isPresent)
        .orElseThrow();
  }

  private static String get(URI page) throws Exception {
    HttpClient browser =
        HttpClient.newBuilder()
            .cookieHandler(new CookieManager())
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();
    return browser.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body();
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

  /** Of this process: another demo may run beside it. */
  private static Set<Path> directories() throws Exception {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .filter(f -> f.getFileName().toString().startsWith(Demo.LOGS))
          .collect(Collectors.toSet());
    }
  }
}
