package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.RuleNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/** A test of a suite that failed, and the rules of it that its sentence begins with. */
public record Failure(String test, List<String> rules, Throwable thrown) {

  /** All of one run of a suite. */
  public static List<Failure> of(EngineExecutionResults results) {
    return results.allEvents().failed().stream().map(Failure::of).toList();
  }

  /** Why tests of a run ended that had begun, and did not fail. */
  public static List<String> aborted(EngineExecutionResults results) {
    return results.testEvents().aborted().stream().map(e -> thrown(e).getMessage()).toList();
  }

  private static Throwable thrown(Event event) {
    return event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow();
  }

  private static Failure of(Event event) {
    Throwable thrown = thrown(event);
    Optional<List<String>> rules =
        method(event).map(test -> RuleNames.rules(test, String.valueOf(thrown.getMessage())));
    return new Failure(event.getTestDescriptor().getDisplayName(), rules.orElse(List.of()), thrown);
  }

  private static Optional<Method> method(Event event) {
    return event
        .getTestDescriptor()
        .getSource()
        .filter(MethodSource.class::isInstance)
        .map(source -> ((MethodSource) source).getJavaMethod());
  }

  /** The names of the tests that passed, without those of what is the test class's own. */
  private static Set<String> passed(EngineExecutionResults results) {
    return results.testEvents().succeeded().stream()
        .filter(event -> method(event).filter(Failure::isOfFixture).isEmpty())
        .map(event -> event.getTestDescriptor().getDisplayName())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isOfFixture(Method test) {
    Place place = test.getDeclaringClass().getAnnotation(Place.class);
    return place != null && place.value() == Place.FIXTURE;
  }

  /** The rule that a broken implementation breaks, or the first of them. */
  private static String ruleOf(Class<?> broken) {
    return rulesOf(broken).get(0);
  }

  private static List<String> rulesOf(Class<?> broken) {
    return List.of(broken.getAnnotation(Rule.class).value());
  }

  /** What a suite says to what it is run on. */
  public static EngineExecutionResults results(Class<?> suite, String... parameters) {
    return results(selectClass(suite), parameters);
  }

  /**
   * The same of some of its tests.
   *
   * @param parameters each as {@code name=value}
   */
  public static EngineExecutionResults results(DiscoverySelector tests, String... parameters) {
    EngineTestKit.Builder kit =
        EngineTestKit.engine("junit-jupiter")
            .selectors(tests)
            .configurationParameter("outbox.tck.summary", "false");
    for (String parameter : parameters) {
      kit.configurationParameter(parameter.split("=")[0], parameter.split("=")[1]);
    }
    return kit.execute();
  }

  private record Run(Class<?> broken, Future<List<Failure>> failures) {
    private DynamicTest test() {
      return DynamicTest.dynamicTest(
          "by the tests of %s, and by no others: %s"
              .formatted(String.join(", ", rulesOf(broken)), broken.getSimpleName()),
          () -> {
            assertCaught(broken, failures.get());
            assertToldAsOnThePage(broken, failures.get());
          });
    }
  }

  /**
   * A test for each broken implementation of a set, and one that each test of the suite fails for
   * one of them. All are started at once: most of the time a suite waits. Once more where nothing
   * fails: a suite forgives what a busy machine may have delayed.
   *
   * @param right one that passes
   */
  public static Stream<DynamicTest> eachIsCaught(
      Class<?> set, Class<?> right, Function<Class<?>, EngineExecutionResults> suite) {
    ExecutorService executor = Executors.newFixedThreadPool(12);
    Future<Set<String>> passed = executor.submit(() -> passed(suite.apply(right)));
    List<Run> runs =
        Stream.of(set.getDeclaredClasses())
            .filter(type -> type.isAnnotationPresent(Rule.class))
            .sorted(Comparator.comparing(Failure::ruleOf).thenComparing(Class::getSimpleName))
            .map(type -> new Run(type, executor.submit(() -> failures(suite, type))))
            .toList();
    DynamicTest each =
        DynamicTest.dynamicTest(
            "each test of a rule fails for one of them",
            () -> assertEachFails(passed.get(), runs, suite));
    return Stream.concat(runs.stream().map(Run::test), Stream.of(each))
        .onClose(executor::shutdownNow);
  }

  /** What a busy machine may have delayed was forgiven: such a test has some more tries, alone. */
  private static void assertEachFails(
      Set<String> tests, List<Run> runs, Function<Class<?>, EngineExecutionResults> suite)
      throws Exception {
    for (Run run : runs) {
      run.failures.get().forEach(failure -> tests.remove(failure.test));
    }
    for (int tries = 0; tries < 3; tries++) {
      for (Run run : runs) {
        if (rulesOf(run.broken).stream().anyMatch(rule -> isOfRule(tests, rule))) {
          of(suite.apply(run.broken)).forEach(failure -> tests.remove(failure.test));
        }
      }
    }
    assertThat(tests)
        .as("tests that fail for none of %s broken implementations", runs.size())
        .isEmpty();
  }

  private static boolean isOfRule(Set<String> tests, String rule) {
    return tests.stream().anyMatch(test -> List.of(test.split(": ")[0].split(", ")).contains(rule));
  }

  private static List<Failure> failures(
      Function<Class<?>, EngineExecutionResults> suite, Class<?> broken) {
    List<Failure> failures = List.of();
    for (int tries = 0; failures.isEmpty() && tries < 3; tries++) {
      failures = of(suite.apply(broken));
    }
    return failures;
  }

  /** That tests of the broken rule alone failed, and none of others, each with a sentence. */
  private static void assertCaught(Class<?> broken, List<Failure> failures) {
    assertThat(failures)
        .as("tests that %s fails, of %s alone", broken.getSimpleName(), rulesOf(broken))
        .anyMatch(failure -> rulesOf(broken).containsAll(failure.rules()));
    assertThat(failures)
        .as("tests that %s fails, and not those of %s", broken.getSimpleName(), rulesOf(broken))
        .filteredOn(failure -> Collections.disjoint(failure.rules(), rulesOf(broken)))
        .isEmpty();
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

  /** A test for each of some suites whose fixture is wrong: what is told first has this in it. */
  public static Stream<DynamicTest> eachIsTold(Map<Class<?>, String> suites) {
    return suites.entrySet().stream()
        .map(
            suite ->
                DynamicTest.dynamicTest(
                    suite.getKey().getSimpleName(),
                    () ->
                        assertThat(of(results(suite.getKey())))
                            .first()
                            .asString()
                            .contains(suite.getValue())));
  }

  /** Those of a set whose failures {@code docs/tck.md} quotes. */
  public static List<Class<?>> onThePage(Class<?> set) {
    return Stream.<Class<?>>of(set.getDeclaredClasses())
        .filter(type -> onThePage(type.getSimpleName()).isPresent())
        .toList();
  }

  /** What {@code docs/tck.md} says that the suite says to it, if it has it. */
  private static Optional<String> onThePage(String broken) {
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

  private static void assertToldAsOnThePage(Class<?> broken, List<Failure> failures) {
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
