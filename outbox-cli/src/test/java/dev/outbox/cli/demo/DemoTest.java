package dev.outbox.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.cli.Failure;
import dev.outbox.cli.StoreKind;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

/** The whole demo, small. */
class DemoTest {

  @ParameterizedTest
  @EnumSource(names = {"POSTGRES", "MYSQL", "MONGO"})
  @DisplayName("messages get through a kill and an outage, and nothing is left behind")
  void small(StoreKind store) throws Exception {
    assumeThereIs(store);
    StringWriter text = new StringWriter();
    DemoSettings settings = new DemoSettings(300, 20, 2, 150, 42, store, null, null);
    Set<Path> before = directories();

    int code = new Demo(settings, new PrintWriter(text)).run();

    String out = text.toString();
    assertThat(code).as(out).isZero();
    List<String> lines = out.lines().map(line -> line.strip().replaceAll(" +", " ")).toList();
    assertThat(lines).anyMatch(line -> line.startsWith("committed 300 transactions with "));
    assertThat(lines).contains("lost 0", "leaked 0", "order violations 0", "dead letters 0");
    assertThat(out)
        .containsSubsequence(
            "seed 42",
            "relay A was killed (SIGKILL)",
            "relay C was started",
            "the broker was stopped",
            "the broker is back");
    assertThat(ProcessHandle.current().children()).isEmpty();
    assertThat(directories()).isSubsetOf(before);
  }

  private static void assumeThereIs(StoreKind store) {
    try {
      store.start().close();
    } catch (Failure e) {
      if (e.getCause() instanceof UnsupportedOperationException
          || e.getCause() instanceof TestAbortedException) {
        System.err.println("The demo's test is SKIPPED: " + e.getMessage());
        abort(e.getMessage());
      }
      throw e;
    }
  }

  private static Set<Path> directories() throws Exception {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .filter(f -> f.getFileName().toString().matches("outbox-demo-.*"))
          .collect(Collectors.toSet());
    }
  }
}
