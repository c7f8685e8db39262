package dev.outbox.tck.internal;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.disabled;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.enabled;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestInstances;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * What is around each test of a suite. A failure says its rule first, and speaks of messages by
 * their numbers. Nothing else runs when a test of the fixture failed, when its reset() hangs, or
 * when failed tests have taken too long. At the end it prints why tests were skipped.
 *
 * <p>It counts the time of tests that failed only, so a slow database loses no test by being slow.
 */
public abstract class Frame
    implements BeforeEachCallback,
        ExecutionCondition,
        TestExecutionExceptionHandler,
        AfterEachCallback,
        TestWatcher,
        AfterAllCallback {

  /** Whether all tests run, whatever failed: a configuration parameter or a system property. */
  static final String ALL = "outbox.tck.all";

  /** Whether the reasons of skipped tests are printed; default true. */
  static final String SUMMARY = "outbox.tck.summary";

  /**
   * How long failed tests may take altogether, as {@code PT60S}, the default: with what a whole run
   * takes on a database that works that is two minutes.
   */
  static final String FAILING = "outbox.tck.failing";

  private static final Duration FOR_FAILURES = Duration.ofSeconds(60);

  private final Patience patience = new Patience();
  private @Nullable Tested tested;
  private Numbers numbers = new Numbers();

  /** Why tests were skipped, and their rules. */
  private final Map<String, Set<String>> skipped = new TreeMap<>();

  private final Map<String, String> blamed = new LinkedHashMap<>();
  private final Set<String> failed = new TreeSet<>();
  private @Nullable String stopped;
  private boolean hangs;
  private int tests;
  private int skips;
  private long began;
  private long failing;

  // ---- before a test

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (context.getTestMethod().isPresent()) {
      tests++;
      if (stopped != null && (hangs || !isOfFixture(context))) {
        return disabled(stopped);
      }
      Duration failed = Duration.ofNanos(failing);
      if (failed.compareTo(limit(context)) > 0) {
        return disabled(
            "not run: failed tests took %s; -D%s=true or ./outbox tck --all runs all"
                .formatted(Patience.seconds(failed), ALL));
      }
    }
    return enabled("nothing keeps it from running");
  }

  private static Duration limit(ExtensionContext context) {
    return context.getConfigurationParameter(ALL).map(Boolean::parseBoolean).orElse(false)
        ? Duration.ofDays(1)
        : context.getConfigurationParameter(FAILING).map(Duration::parse).orElse(FOR_FAILURES);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    began = System.nanoTime();
    patience.begin();
    try {
      Tested current = tested(context.getRequiredTestInstances(), patience);
      tested = current;
      numbers = current.numbers();
      current.prepare();
    } catch (Throwable e) {
      throw Patience.unchecked(told(context, e));
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (tested != null) {
      tested.giveBack();
    }
  }

  /** A test class as its tests know it. */
  public interface Tested {
    /** Before each test. */
    void prepare();

    /** After it: ends what it has left open. */
    void giveBack();

    /** Of the messages of the test. */
    Numbers numbers();
  }

  /**
   * Makes it known to a test.
   *
   * @param patience of the whole run
   */
  protected abstract Tested tested(TestInstances tests, Patience patience);

  // ---- failures

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw told(context, thrown);
  }

  private Throwable told(ExtensionContext context, Throwable thrown) {
    hangs |= thrown instanceof Patience.Hung hung && hung.what().equals("reset()");
    if (thrown instanceof Patience.OtherRuleBroken broken
        && rules(context).contains(broken.rule())) {
      return told(context, requireNonNull(broken.getCause())); // it is this one
    }
    if (thrown instanceof Patience.OtherRuleBroken broken) {
      failing += System.nanoTime() - began;
      String why = numbers.in(message(requireNonNull(broken.getCause()))).replaceAll("\\s+", " ");
      blamed.putIfAbsent(broken.rule(), "'%s': %s".formatted(context.getDisplayName(), why));
      return new TestAbortedException(
          "skipped: builds on %s, which is broken: %s".formatted(broken.rule(), why),
          broken.getCause());
    }
    if (thrown instanceof TestAbortedException
        || !(thrown instanceof AssertionError || patience.thrower(thrown) != null)) {
      return thrown;
    }
    String text = RuleNames.told(context.getRequiredTestMethod(), numbers.in(message(thrown)));
    Throwable cause = thrown instanceof AssertionError ? thrown.getCause() : thrown;
    AssertionFailedError told =
        thrown instanceof AssertionFailedError failed && failed.isExpectedDefined()
            ? new AssertionFailedError(text, failed.getExpected(), failed.getActual(), cause)
            : new AssertionFailedError(text, cause);
    told.setStackTrace(thrown.getStackTrace());
    return told;
  }

  private String message(Throwable thrown) {
    return thrown instanceof AssertionError
        ? String.valueOf(thrown.getMessage()).strip()
        : "%s threw %s".formatted(requireNonNullElse(patience.thrower(thrown), "the test"), thrown);
  }

  // ---- after a test

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    failing += System.nanoTime() - began;
    failed.addAll(
        RuleNames.rules(context.getRequiredTestMethod(), String.valueOf(cause.getMessage())));
    if (stopped == null && isOfFixture(context)) {
      stopped = "not run: the fixture is wrong";
    } else if (stopped == null && hangs) {
      stopped = "not run: nothing else runs, because reset() hangs";
    }
  }

  private static boolean isOfFixture(ExtensionContext context) {
    return Place.Order.of(context.getRequiredTestClass()) == Place.FIXTURE;
  }

  @Override
  public void testAborted(ExtensionContext context, Throwable cause) {
    skip(context, String.valueOf(cause.getMessage()));
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    skip(context, reason.orElse("disabled"));
  }

  private void skip(ExtensionContext context, String reason) {
    skips++;
    skipped.computeIfAbsent(reason, r -> new TreeSet<>()).addAll(rules(context));
  }

  private static Set<String> rules(ExtensionContext context) {
    return new TreeSet<>(RuleNames.rules(context.getRequiredTestMethod()));
  }

  // ---- at the end

  @Override
  public void afterAll(ExtensionContext context) {
    if (context.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
      return; // there is more
    }
    blamed.keySet().removeAll(failed);
    if (!blamed.isEmpty()) {
      throw new AssertionFailedError(
          "broken, though none of their own tests failed in this run: "
              + blamed.entrySet().stream()
                  .map(blamed -> "%s, says %s".formatted(blamed.getKey(), blamed.getValue()))
                  .collect(Collectors.joining("; ")));
    }
    if (skips > 0
        && context.getConfigurationParameter(SUMMARY).map(Boolean::parseBoolean).orElse(true)) {
      System.out.printf(
          "%s: %s of %s tests were skipped:%n", context.getDisplayName(), skips, tests);
      skipped.forEach(Frame::print);
    }
  }

  /** A line, with the rules unless they are most of all. */
  private static void print(String why, Set<String> rules) {
    boolean named = !rules.isEmpty() && !why.startsWith("not run");
    System.out.println(
        "  "
            + why.replaceFirst("^(skipped|Assumption failed): ", "")
            + (named ? " (" + String.join(", ", rules) + ")" : ""));
  }
}
