package dev.outbox.tck;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.disabled;
import static org.junit.jupiter.api.extension.ConditionEvaluationResult.enabled;

import dev.outbox.tck.StoreTests.OtherRuleBroken;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestInstances;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * What is around each test of a suite: a failure says its rule first, and speaks of messages by
 * their numbers; when a test of the fixture failed, or its reset() hangs, or when what failed has
 * taken too long, nothing else runs; why tests were skipped is printed at the end.
 *
 * <p>It counts the time of tests that failed only, so a slow database loses no test by being slow.
 */
final class Frame
    implements BeforeEachCallback,
        ExecutionCondition,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler,
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

  /** One run of a suite. */
  private static final class Run {
    final Patience patience = new Patience();
    final PublisherRun publisher = new PublisherRun();
    final Map<String, Set<String>> skipped = new LinkedHashMap<>();

    /** By who would implement it, and its name: the rules that it has tests of. */
    final Map<String, Map<String, Set<String>>> notUnlocked = new TreeMap<>();

    final Map<String, String> blamed = new LinkedHashMap<>();
    final Set<String> failed = new TreeSet<>();
    @Nullable String stopped;
    boolean hangs;
    int tests;
    int skips;
    long began;
    long failing;

    void skip(Set<String> rules, String reason) {
      skips++;
      skipped.computeIfAbsent(reason, r -> new TreeSet<>()).addAll(rules);
    }

    void skip(Set<String> rules, NotUnlocked test) {
      skips++;
      notUnlocked
          .computeIfAbsent(test.who(), who -> new TreeMap<>())
          .computeIfAbsent(test.ability(), ability -> new TreeSet<>())
          .addAll(rules);
    }
  }

  private static Run run(ExtensionContext context) {
    return suite(context)
        .getStore(Namespace.create(Frame.class))
        .getOrComputeIfAbsent(Run.class, type -> new Run(), Run.class);
  }

  /** The context of the test class, in which all others are nested. */
  private static ExtensionContext suite(ExtensionContext context) {
    ExtensionContext suite = context;
    for (ExtensionContext c = context;
        c.getTestClass().isPresent();
        c = c.getParent().orElseThrow()) {
      suite = c;
    }
    return suite;
  }

  // ---- before a test

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (context.getTestMethod().isPresent()) {
      Run run = run(context);
      run.tests++;
      if (run.stopped != null && (run.hangs || !isOfFixture(context))) {
        return disabled(run.stopped);
      }
      Duration failing = Duration.ofNanos(run.failing);
      if (failing.compareTo(limit(context)) > 0) {
        return disabled(
            "not run: tests that failed took %s. All tests run with -D%s=true, or by ./outbox tck --all"
                .formatted(Patience.seconds(failing), ALL));
      }
    }
    return enabled("nothing keeps it from running");
  }

  private static boolean all(ExtensionContext context) {
    return context.getConfigurationParameter(ALL).map(Boolean::parseBoolean).orElse(false);
  }

  private static Duration limit(ExtensionContext context) {
    return all(context)
        ? Duration.ofDays(1)
        : context.getConfigurationParameter(FAILING).map(Duration::parse).orElse(FOR_FAILURES);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    Run run = run(context);
    run.began = System.nanoTime();
    run.publisher.all = all(context);
    context
        .getRequiredTestInstances()
        .findInstance(OutboxStoreTck.class)
        .ifPresent(tck -> tck.patient().begin(run.patience));
    context
        .getRequiredTestInstances()
        .findInstance(InboxStoreTck.class)
        .ifPresent(tck -> tck.patient().begin(run.patience));
    context
        .getRequiredTestInstances()
        .findInstance(PublisherTck.class)
        .ifPresent(tck -> tck.begin(run.patience, run.publisher));
  }

  // ---- failures

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw told(context, thrown);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw told(context, thrown);
  }

  private static Throwable told(ExtensionContext context, Throwable thrown) {
    run(context).hangs |= thrown instanceof Patience.Hung hung && hung.what().equals("reset()");
    String thrower = run(context).patience.thrower(thrown);
    if (thrown instanceof OtherRuleBroken broken && rules(context).contains(broken.rule())) {
      return told(context, requireNonNull(broken.getCause())); // it is this one
    }
    if (thrown instanceof OtherRuleBroken broken) {
      run(context).failing += System.nanoTime() - run(context).began;
      run(context).blamed.putIfAbsent(broken.rule(), context.getDisplayName());
      return new TestAbortedException(
          "skipped: %s is broken, so %s cannot be tested: %s"
              .formatted(
                  broken.rule(),
                  String.join(", ", rules(context)),
                  numbers(context).in(firstSentence(String.valueOf(broken.getMessage())))));
    }
    if (thrown instanceof TestAbortedException
        || !(thrown instanceof AssertionError || thrower != null)) {
      return thrown;
    }
    String message =
        thrown instanceof AssertionError
            ? String.valueOf(thrown.getMessage()).strip()
            : "%s threw %s".formatted(thrower, thrown);
    String text = RuleNames.prefix(context.getRequiredTestMethod()) + numbers(context).in(message);
    AssertionFailedError told;
    if (thrown instanceof AssertionFailedError failed && failed.isExpectedDefined()) {
      told =
          new AssertionFailedError(
              text, failed.getExpected(), failed.getActual(), thrown.getCause());
    } else {
      told =
          new AssertionFailedError(
              text, thrown instanceof AssertionError ? thrown.getCause() : thrown);
    }
    told.setStackTrace(thrown.getStackTrace());
    return told;
  }

  private static Numbers numbers(ExtensionContext context) {
    TestInstances tests = context.getRequiredTestInstances();
    return tests
        .findInstance(OutboxStoreTck.class)
        .map(tck -> tck.patient().numbers())
        .or(() -> tests.findInstance(PublisherTck.class).map(PublisherTck::numbers))
        .orElseGet(Numbers::new);
  }

  // ---- after a test

  @Override
  public void testFailed(ExtensionContext context, Throwable cause) {
    Run run = run(context);
    run.failing += System.nanoTime() - run.began;
    run.failed.addAll(rules(context));
    String message = String.valueOf(cause.getMessage());
    if (run.stopped == null && isOfFixture(context)) {
      run.stopped = "not run: the fixture is wrong: " + firstSentence(message);
    } else if (run.stopped == null && run.hangs) {
      run.stopped = "not run: nothing else runs, because reset() hangs";
    }
  }

  private static boolean isOfFixture(ExtensionContext context) {
    Class<?> test = context.getRequiredTestClass();
    return FixtureTests.class.isAssignableFrom(test)
        || InboxFixtureTests.class.isAssignableFrom(test)
        || PublisherTests.FixtureTests.class.isAssignableFrom(test);
  }

  static String firstSentence(String message) {
    return message.strip().lines().findFirst().orElse("").strip();
  }

  @Override
  public void testAborted(ExtensionContext context, Throwable cause) {
    if (cause instanceof NotUnlocked test) {
      run(context).skip(rules(context), test);
    } else {
      run(context).skip(rules(context), String.valueOf(cause.getMessage()));
    }
  }

  @Override
  public void testDisabled(ExtensionContext context, Optional<String> reason) {
    run(context).skip(rules(context), reason.orElse("disabled"));
  }

  private static Set<String> rules(ExtensionContext context) {
    Rule rule = context.getRequiredTestMethod().getAnnotation(Rule.class);
    return rule == null ? Set.of() : new TreeSet<>(List.of(rule.value()));
  }

  // ---- at the end

  @Override
  public void afterAll(ExtensionContext context) {
    Run run = run(context);
    if (context != suite(context)) {
      return;
    }
    run.blamed.keySet().removeAll(run.failed);
    if (!run.blamed.isEmpty()) {
      throw new AssertionFailedError(
          "broken, though none of their own tests failed in this run: "
              + run.blamed.entrySet().stream()
                  .map(blamed -> "%s, says '%s'".formatted(blamed.getKey(), blamed.getValue()))
                  .collect(Collectors.joining("; ")));
    }
    if (run.skips > 0
        && context.getConfigurationParameter(SUMMARY).map(Boolean::parseBoolean).orElse(true)) {
      System.out.printf(
          "%s: %d of %d tests were skipped:%n", context.getDisplayName(), run.skips, run.tests);
      run.skipped.forEach(
          (reason, rules) ->
              System.out.printf(
                  "  %s%s%n",
                  rules.isEmpty() ? "" : String.join(", ", rules) + ": ",
                  reason.replaceFirst("^skipped: ", "")));
      run.notUnlocked.forEach(
          (who, abilities) ->
              System.out.printf(
                  "  not checked until %s implements %s%n",
                  who,
                  abilities.entrySet().stream()
                      .map(Frame::unlocks)
                      .collect(Collectors.joining(", "))));
    }
  }

  private static String unlocks(Map.Entry<String, Set<String>> ability) {
    return ability.getValue().isEmpty()
        ? ability.getKey()
        : "%s (%s)".formatted(ability.getKey(), String.join(", ", ability.getValue()));
  }
}
