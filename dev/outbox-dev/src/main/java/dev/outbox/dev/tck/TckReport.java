package dev.outbox.dev.tck;

import dev.outbox.cli.Secrets;
import dev.outbox.dev.common.Progress;
import dev.outbox.tck.Rule;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Collects what came of each test, and prints it by rule. */
final class TckReport implements TestExecutionListener {
  private static final String NO_RULE = "-";

  /** The order of SPEC.md. */
  private static final String LETTERS = "-ACSOTEFPI";

  /** As SPEC.md says. */
  static final Set<String> OPTIONAL =
      Set.of("C10", "C5", "C8", "C9", "E1", "F1", "F2", "F3", "P6", "S6", "S7", "S8", "T1");

  enum Outcome {
    PASSED,
    FAILED,
    SKIPPED
  }

  /**
   * @param rule as C1, or {@value #NO_RULE}
   * @param detail why it failed or was skipped
   */
  record Line(String rule, String sentence, Outcome outcome, @Nullable String detail) {}

  private final List<Line> lines = new ArrayList<>();
  private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
  private final Progress progress;
  private final BooleanSupplier serverAnswers;
  private @Nullable TestPlan plan;
  private long all;
  private long done;
  private boolean serverGone;

  /**
   * @param serverAnswers asked after each failure; when it does not, the rest is not run
   */
  TckReport(Progress progress, BooleanSupplier serverAnswers) {
    this.progress = progress;
    this.serverAnswers = serverAnswers;
  }

  @Override
  public void testPlanExecutionStarted(TestPlan testPlan) {
    plan = testPlan;
    all = testPlan.countTestIdentifiers(TestIdentifier::isTest);
  }

  @Override
  public synchronized void executionStarted(TestIdentifier test) {
    if (test.isTest()) {
      progress.show("%s of %s: %s".formatted(done, Math.max(all, done + 1), sentence(test)));
    }
  }

  @Override
  public synchronized void executionSkipped(TestIdentifier test, String reason) {
    if (!serverGone) {
      add(test, Outcome.SKIPPED, reason);
    }
  }

  @Override
  public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
    String detail = result.getThrowable().map(TckReport::text).orElse(null);
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          add(test, Outcome.PASSED, null);
        }
      }
      case ABORTED -> add(test, Outcome.SKIPPED, detail);
      case FAILED -> {
        add(test, Outcome.FAILED, detail);
        if (!serverGone && !serverAnswers.getAsBoolean()) {
          serverGone = true;
          WhileServerAnswers.isGone();
        }
      }
    }
  }

  private void add(TestIdentifier test, Outcome outcome, @Nullable String detail) {
    counts.merge(outcome, 1, Integer::sum);
    for (String rule : rules(test)) {
      lines.add(new Line(rule, sentence(test), outcome, detail));
    }
    done += test.isTest() ? 1 : 0;
  }

  private static String text(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank() ? failure.toString() : message.strip();
  }

  /** With the name of what the test is nested in, where that is not the suite itself. */
  private String sentence(TestIdentifier test) {
    Optional<TestIdentifier> parent = parent(test);
    boolean nested = parent.flatMap(this::parent).flatMap(this::parent).isPresent();
    String sentence = test.getDisplayName();
    String rules = String.join(", ", rules(test)) + ": "; // which stand before the sentence
    sentence = sentence.startsWith(rules) ? sentence.substring(rules.length()) : sentence;
    return (nested ? parent.get().getDisplayName() + ": " : "") + sentence;
  }

  private Optional<TestIdentifier> parent(TestIdentifier test) {
    return plan == null ? Optional.empty() : plan.getParent(test);
  }

  private static List<String> rules(TestIdentifier test) {
    TestSource source = test.getSource().orElse(null);
    Rule rule = null;
    if (source instanceof MethodSource method) {
      Method java = method.getJavaMethod();
      rule = java.getAnnotation(Rule.class);
      if (rule == null) {
        rule = method.getJavaClass().getAnnotation(Rule.class);
      }
    } else if (source instanceof ClassSource type) {
      rule = type.getJavaClass().getAnnotation(Rule.class);
    }
    return rule == null ? List.of(NO_RULE) : List.of(rule.value());
  }

  boolean failed() {
    return count(Outcome.FAILED) > 0 || count(Outcome.PASSED) == 0;
  }

  private synchronized int count(Outcome outcome) {
    return counts.getOrDefault(outcome, 0);
  }

  /** Rule by rule, in the order of the contract. A test of two rules is in both. */
  synchronized void print(PrintWriter out) {
    Map<String, List<Line>> byRule = new TreeMap<>(TckReport::bySpec);
    lines.forEach(line -> byRule.computeIfAbsent(line.rule(), r -> new ArrayList<>()).add(line));
    byRule.forEach(
        (rule, tests) -> {
          out.println();
          tests.forEach(test -> print(out, test));
        });
    out.println();
    if (lines.stream().anyMatch(line -> OPTIONAL.contains(line.rule()))) {
      out.println("* An optional rule: a store that does not claim it need not keep it.");
    }
    printFailures(out);
    out.printf(
        "%s passed, %s failed, %s skipped; %s rules.%n",
        count(Outcome.PASSED),
        count(Outcome.FAILED),
        count(Outcome.SKIPPED),
        byRule.keySet().stream().filter(rule -> !rule.equals(NO_RULE)).count());
    if (count(Outcome.PASSED) == 0) {
      out.println("Nothing passed, so nothing is proven.");
    }
  }

  /** Again, where they are not lost among what passed. */
  private void printFailures(PrintWriter out) {
    List<Line> failures =
        lines.stream().filter(line -> line.outcome() == Outcome.FAILED).distinct().toList();
    if (!failures.isEmpty()) {
      out.println("What failed:");
      failures.forEach(failure -> print(out, failure));
    }
    if (serverGone) {
      out.printf(
          "The server was gone after %s of %s tests, so the others were not run.%n", done, all);
    }
  }

  private static void print(PrintWriter out, Line line) {
    String outcome =
        switch (line.outcome()) {
          case PASSED -> "passed";
          case FAILED -> "FAILED";
          case SKIPPED -> "skipped";
        };
    String rule = line.rule() + (OPTIONAL.contains(line.rule()) ? "*" : "");
    out.printf("%-4s %-8s %s%n", rule, outcome, line.sentence());
    if (line.detail() != null) {
      // Skipped tests begin their reason with the word that stands there already.
      String detail = Secrets.mask(line.detail()).replaceFirst("^skipped: ", "");
      detail.lines().forEach(text -> out.println("                " + text));
    }
  }

  private static int bySpec(String a, String b) {
    return Comparator.<String>comparingInt(rule -> LETTERS.indexOf(rule.charAt(0)))
        .thenComparing(rule -> rule.replaceAll("\\D", ""), Comparator.comparingInt(String::length))
        .thenComparing(Comparator.naturalOrder())
        .compare(a, b);
  }
}
