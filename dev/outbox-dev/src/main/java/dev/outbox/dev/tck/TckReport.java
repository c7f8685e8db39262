package dev.outbox.dev.tck;

import dev.outbox.cli.Secrets;
import dev.outbox.dev.common.Progress;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Shows which test runs, and prints what came of each. */
final class TckReport implements TestExecutionListener {
  /** The first of the rules with which a test's name begins. */
  private static final Pattern RULE = Pattern.compile("([A-Z])(\\d+)[,:] ");

  /** The order of SPEC.md. */
  private static final String LETTERS = "ACSOTEFPI";

  enum Outcome {
    PASSED("passed"),
    FAILED("FAILED"),
    SKIPPED("skipped");

    private final String word;

    Outcome(String word) {
      this.word = word;
    }
  }

  /**
   * @param name as {@code O2: other keys go on}
   * @param detail why it failed or was skipped
   */
  private record Line(String name, Outcome outcome, @Nullable String detail) {
    /** In the order of the rules; what has none comes first. */
    int place() {
      Matcher rule = RULE.matcher(name);
      return rule.lookingAt()
          ? LETTERS.indexOf(rule.group(1)) * 100 + Integer.parseInt(rule.group(2))
          : -1;
    }

    void print(PrintWriter out) {
      out.printf("%-8s %s%n", outcome.word, name);
      if (detail != null) {
        // Skipped tests begin their reason with the word that stands there already.
        String text = Secrets.mask(detail).replaceFirst("^skipped: ", "");
        text.lines().forEach(line -> out.println("           " + line));
      }
    }
  }

  private final List<Line> lines = new ArrayList<>();
  private final Progress progress;
  private final BooleanSupplier serverAnswers;
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
  public void testPlanExecutionStarted(TestPlan plan) {
    all = plan.countTestIdentifiers(TestIdentifier::isTest);
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    if (test.isTest()) {
      progress.show("%s of %s: %s".formatted(done, Math.max(all, done + 1), test.getDisplayName()));
    }
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    if (!serverGone) {
      add(test, Outcome.SKIPPED, reason);
    }
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
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
          WhileServerAnswers.gone = true;
        }
      }
    }
  }

  private void add(TestIdentifier test, Outcome outcome, @Nullable String detail) {
    lines.add(new Line(test.getDisplayName(), outcome, detail));
    done += test.isTest() ? 1 : 0;
  }

  private static String text(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank() ? failure.toString() : message.strip();
  }

  boolean failed() {
    return count(Outcome.FAILED) > 0 || count(Outcome.PASSED) == 0;
  }

  private long count(Outcome outcome) {
    return lines.stream().filter(line -> line.outcome() == outcome).count();
  }

  /** In the order of the contract, by the first rule of each test. */
  void print(PrintWriter out) {
    lines.sort(Comparator.comparingInt(Line::place));
    int rule = Integer.MIN_VALUE;
    for (Line line : lines) {
      if (line.place() != rule) {
        out.println();
      }
      rule = line.place();
      line.print(out);
    }
    out.println();
    if (count(Outcome.FAILED) > 0) {
      out.println("What failed:"); // again, where it is not lost among what passed
      lines.stream().filter(line -> line.outcome() == Outcome.FAILED).forEach(l -> l.print(out));
    }
    if (serverGone) {
      out.printf(
          "The server was gone after %s of %s tests, so the others were not run.%n", done, all);
    }
    out.printf(
        "%s passed, %s failed, %s skipped.%n",
        count(Outcome.PASSED), count(Outcome.FAILED), count(Outcome.SKIPPED));
    if (count(Outcome.PASSED) == 0) {
      out.println("Nothing passed, so nothing is proven.");
    }
  }
}
