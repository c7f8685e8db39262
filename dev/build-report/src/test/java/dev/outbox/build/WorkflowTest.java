package dev.outbox.build;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** The workflow runs elsewhere; here its commands are looked at. */
@DisplayName("The workflow")
class WorkflowTest {
  private static final Path ROOT = Path.of("../..");
  private static final Pattern TCK =
      Pattern.compile(
          "\\./mvnw .* -pl (\\S+) .*-Dtest=(\\S+) .*-Doutbox\\.test\\.(\\w+)\\.\\w+=.*");

  /** What its steps run, once for each value of a matrix. */
  private static List<String> commands() throws IOException {
    Map<String, Map<String, Map<String, Object>>> workflow =
        new Yaml().load(Files.readString(ROOT.resolve(".github/workflows/build.yml")));
    List<String> commands = new ArrayList<>();
    for (Map<String, Object> job : workflow.get("jobs").values()) {
      for (Object step : (List<?>) job.get("steps")) {
        if (((Map<?, ?>) step).get("run") instanceof String command) {
          commands.addAll(expanded(command, job));
        }
      }
    }
    return commands;
  }

  private static List<String> expanded(String command, Map<String, Object> job) {
    if (!command.contains("${{ matrix.image }}")) {
      return List.of(command);
    }
    Map<?, ?> matrix = (Map<?, ?>) ((Map<?, ?>) job.get("strategy")).get("matrix");
    return ((List<?>) matrix.get("image"))
        .stream().map(image -> command.replace("${{ matrix.image }}", image.toString())).toList();
  }

  @ParameterizedTest
  @MethodSource("commands")
  @DisplayName("runs a script of ours that bash can read")
  void script(String command) throws Exception {
    String script = command.replaceFirst("^sudo \\S+ ", "").replaceFirst(" .*", "");
    assertThat(ROOT.resolve(script)).isExecutable();
    assertThat(output("bash", "-n", script)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("images")
  @DisplayName("names images of which the TCK knows module, tests and server")
  void image(String image) throws Exception {
    Matcher maven = TCK.matcher(output(".ci/tck", "--dry-run", image).strip());
    assertThat(maven.matches()).as(maven.toString()).isTrue();
    Path tests = ROOT.resolve(maven.group(1)).resolve("target/test-classes");
    try (Stream<Path> files = Files.walk(tests)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .contains((maven.group(2) + ".class").replace(",", ".class,").split(","));
    }
    assertThat(servers())
        .containsPattern("\"(outbox\\.test\\.)?" + maven.group(3) + "(\\.\\w+)?\"");
  }

  /** The code that picks the servers of tests. */
  private static String servers() throws IOException {
    try (Stream<Path> files =
        Files.list(ROOT.resolve("dev/embedded/src/main/java/dev/outbox/embedded"))) {
      return files
          .filter(file -> file.toString().endsWith("Server.java"))
          .map(WorkflowTest::text)
          .collect(joining());
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> images() throws IOException {
    return commands().stream()
        .filter(command -> command.startsWith(".ci/tck "))
        .map(command -> command.substring(".ci/tck ".length()))
        .toList();
  }

  @Test
  @DisplayName("looks at all servers that we are for")
  void looksAtAllServers() throws IOException {
    assertThat(
            images().stream().map(image -> image.replaceFirst(":.*", "").replaceFirst(".*/", "")))
        .contains(
            "postgres",
            "mysql",
            "mariadb",
            "server",
            "mongo",
            "redis",
            "kafka",
            "rabbitmq",
            "nats");
    assertThat(commands()).anyMatch(command -> command.endsWith(".ci/run"));
  }

  private static String output(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command).directory(ROOT.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
