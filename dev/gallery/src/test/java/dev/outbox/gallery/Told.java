package dev.outbox.gallery;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.Event;

/**
 * A failure of a suite, as it is told.
 *
 * @param test the test's method
 * @param rules that the test stands for
 * @param sentence the first line of its message
 */
public record Told(String test, List<String> rules, String sentence) {
  private static final Pattern RULES = Pattern.compile("([A-Z][0-9](?:, [A-Z][0-9])*): ");

  /** All failures of one run of a suite, the first one first. */
  public static List<Told> of(EngineExecutionResults results) {
    return results.allEvents().failed().stream().map(Told::of).toList();
  }

  private static Told of(Event event) {
    Throwable thrown =
        event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow();
    String sentence = String.valueOf(thrown.getMessage()).strip().lines().findFirst().orElse("");
    return new Told(method(event.getTestDescriptor()), rules(sentence), sentence);
  }

  /** The name of the test's method, or of what else it is. */
  static String method(TestDescriptor test) {
    return test.getSource().orElse(null) instanceof MethodSource source
        ? source.getMethodName()
        : test.getDisplayName();
  }

  /** Those that the sentence begins with. */
  private static List<String> rules(String sentence) {
    Matcher rules = RULES.matcher(sentence);
    return rules.lookingAt() ? List.of(rules.group(1).split(", ")) : List.of();
  }
}
