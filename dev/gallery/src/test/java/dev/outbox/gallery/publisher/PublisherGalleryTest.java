package dev.outbox.gallery.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.RuleNames;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/**
 * What the suite says to publishers as they are written in a hurry. With {@code
 * -Dgallery.full=true} all tests run, outages included, and a line is printed for each publisher.
 */
class PublisherGalleryTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "tck.md");
  private static final boolean FULL = Boolean.getBoolean("gallery.full");
  private static final int OTHERS = 2;
  private static final Duration TIME = Duration.ofMinutes(2);

  /** A wrong publisher, and the test whose sentence the page shows. */
  enum Wrong {
    FIRE_AND_FORGET(FireAndForget.class, FireAndForget::new, "resultsBesideMissing"),
    ONE_RESULT_FOR_ALL(OneResultForAll.class, OneResultForAll::new, "resultsBesideRejected"),
    SENDS_ON_AFTER_FAILURE(
        SendsOnAfterFailure.class, SendsOnAfterFailure::new, "stopsAfterRejected"),
    THROWS_AT_TROUBLE(ThrowsAtTrouble.class, ThrowsAtTrouble::new, "missing"),
    NO_TIME_LIMIT(NoTimeLimit.class, NoTimeLimit::new, "missingInTime"),
    REJECTS_AT_OUTAGE(RejectsAtOutage.class, RejectsAtOutage::new, "missing");

    private final Class<?> type;
    private final Function<Kafka, MessagePublisher> maker;
    private final String test;

    Wrong(Class<?> type, Function<Kafka, MessagePublisher> maker, String test) {
      this.type = type;
      this.maker = maker;
      this.test = test;
    }

    Set<String> rules() {
      return Set.of(type.getAnnotation(Rule.class).value());
    }
  }

  /**
   * A test that failed.
   *
   * @param sentence as the page has it
   * @param whole with what Kafka's client says
   */
  private record Failure(String test, List<String> rules, String sentence, String whole) {
    static Failure of(Event event) {
      Optional<MethodSource> method =
          event
              .getTestDescriptor()
              .getSource()
              .filter(MethodSource.class::isInstance)
              .map(MethodSource.class::cast);
      Throwable thrown =
          event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow();
      return new Failure(
          method.map(MethodSource::getMethodName).orElse("?"),
          method.map(m -> RuleNames.rules(m.getJavaMethod())).orElse(List.of()),
          plain(String.valueOf(thrown.getMessage()).strip()),
          String.valueOf(thrown.getMessage()));
    }

    /** Without what Kafka's client says, which names topics. */
    private static String plain(String sentence) {
      return sentence
          .replaceAll("\\(org\\.apache\\.kafka\\..*?\\)(?=[:,] )", "(\u2026)")
          .replaceAll("\\s+", " ");
    }
  }

  private record Run(List<Failure> failures, Duration time) {
    boolean breaks(Set<String> rules, Failure failure) {
      return failure.rules().stream().anyMatch(rules::contains);
    }
  }

  @BeforeAll
  static void start() {
    KafkaSuite.broker =
        EmbeddedKafka.builder().setting("auto.create.topics.enable", "false").start();
  }

  @AfterAll
  static void stop() {
    KafkaSuite.broker.close();
  }

  private static Run run(Function<Kafka, MessagePublisher> publisher, Set<String> rules) {
    KafkaSuite.publisher = publisher;
    KafkaSuite.rules = FULL ? Set.of() : rules;
    long start = System.nanoTime();
    List<Failure> failures =
        EngineTestKit.engine("junit-jupiter")
            .configurationParameter("outbox.tck.summary", "false")
            .selectors(selectClass(FULL ? KafkaSuite.WithOutages.class : KafkaSuite.class))
            .execute()
            .allEvents()
            .failed()
            .stream()
            .map(Failure::of)
            .toList();
    return new Run(failures, Duration.ofNanos(System.nanoTime() - start));
  }

  @Test
  @DisplayName("the right publisher passes")
  void right() {
    assertThat(run(OneOfEachKey::new, Set.of()).failures()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  @DisplayName("a wrong publisher is caught by the tests of its rule, with the page's sentence")
  void wrong(Wrong wrong) throws Exception {
    Run run = run(wrong.maker, wrong.rules());
    List<Failure> others =
        run.failures().stream().filter(f -> !run.breaks(wrong.rules(), f)).toList();
    String sentence =
        run.failures().stream()
            .filter(failure -> failure.test().equals(wrong.test))
            .map(Failure::sentence)
            .findFirst()
            .orElse("");
    if (FULL) {
      print(wrong, run, others, sentence);
      assertThat(run.time()).isLessThan(TIME);
    }
    assertThat(sentence).as("what %s says; all: %s", wrong.test, run.failures()).isNotEmpty();
    assertThat(Files.readString(PAGE).lines())
        .as("the page; all: %s", run.failures())
        .contains("> " + sentence);
    assertThat(others).as("failures in other rules").hasSizeLessThanOrEqualTo(OTHERS);
  }

  private static void print(Wrong wrong, Run run, List<Failure> others, String sentence) {
    Map<String, Integer> counts = new TreeMap<>();
    run.failures().forEach(f -> f.rules().forEach(rule -> counts.merge(rule, 1, Integer::sum)));
    System.out.printf(
        "| `%s` | %s | %s | %d | %d s |%n",
        wrong.type.getSimpleName(), counts, sentence, others.size(), run.time().toSeconds());
    others.forEach(other -> System.out.println("  other: " + other));
  }
}
