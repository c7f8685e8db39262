package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.internal.RuleNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.Event;

/** A test of a suite that failed, and the rules it stands for. */
public record Failure(String test, List<String> rules, Throwable thrown) {

  /** All of one run of a suite. */
  public static List<Failure> of(EngineExecutionResults results) {
    return results.allEvents().failed().stream().map(Failure::of).toList();
  }

  private static Failure of(Event event) {
    Optional<List<String>> rules =
        event
            .getTestDescriptor()
            .getSource()
            .filter(MethodSource.class::isInstance)
            .map(source -> RuleNames.rules(((MethodSource) source).getJavaMethod()));
    return new Failure(
        event.getTestDescriptor().getDisplayName(),
        rules.orElse(List.of()),
        event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow());
  }

  /** The rule that a broken implementation breaks. */
  public static String ruleOf(Class<?> broken) {
    return broken.getAnnotation(Rule.class).value()[0];
  }

  /** That tests of the broken rule failed, and no others, each with a sentence. */
  public static void assertCaught(Class<?> broken, List<Failure> failures) {
    assertThat(failures).as("tests that %s fails", broken.getSimpleName()).isNotEmpty();
    assertThat(failures)
        .as("tests that %s fails are those of %s", broken.getSimpleName(), ruleOf(broken))
        .allMatch(failure -> failure.rules().contains(ruleOf(broken)));
    assertThat(failures)
        .as("failures are assertions that say what is wrong")
        .allMatch(
            failure ->
                failure.thrown() instanceof AssertionError
                    && failure.thrown().getMessage() != null
                    && failure.thrown().getMessage().matches("(?s).*\\w+ \\w+ \\w+.*"));
    assertThat(failures)
        .as("failures begin with their rule, and speak of messages by numbers, not by ids")
        .allMatch(
            failure ->
                failure.thrown().getMessage().startsWith(String.join(", ", failure.rules()) + ": ")
                    && !failure.thrown().getMessage().matches("(?s).*\\w{8}-\\w{4}-\\w{4}-.*"));
  }

  /** What {@code docs/tck.md} says that the suite says to it, if it has it. */
  public static Optional<String> onThePage(String broken) {
    try {
      return Pattern.compile("(?ms)^### `" + broken + "`$.*?^> (.*?)$")
          .matcher(Files.readString(Path.of("..", "docs", "tck.md")))
          .results()
          .map(section -> comparable(section.group(1)))
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void assertToldAsOnThePage(Class<?> broken, List<Failure> failures) {
    onThePage(broken.getSimpleName())
        .ifPresent(
            sentence ->
                assertThat(failures.stream().map(failure -> failure.thrown().getMessage()))
                    .extracting(Failure::comparable)
                    .as("what the suite says to %s", broken.getSimpleName())
                    .contains(sentence));
  }

  /** The first line, without what differs from run to run: numbers. */
  private static String comparable(String text) {
    return text.strip().lines().findFirst().orElse("").replaceAll("[0-9]+([.,][0-9]+)*", "#");
  }

  @Override
  public String toString() {
    return "%s %s: %.300s".formatted(test, rules, thrown);
  }
}
