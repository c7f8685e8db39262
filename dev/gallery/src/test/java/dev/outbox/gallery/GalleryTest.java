package dev.outbox.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.gallery.WrongStores.CountsEverything;
import dev.outbox.gallery.WrongStores.GoesOnWithoutTheHead;
import dev.outbox.gallery.WrongStores.LocksUntilSettled;
import dev.outbox.gallery.WrongStores.LooksThenInserts;
import dev.outbox.gallery.WrongStores.ReadsEverything;
import dev.outbox.gallery.WrongStores.SettlesForAnyone;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * What the suite says to stores as they are written in a hurry. With {@code -Dgallery.full=true}
 * each is put under the whole suite, in a quarter of an hour, and a table of it is printed; with
 * {@code -Dgallery.only=…}, a regular expression, those whose names match it.
 */
class GalleryTest {

  /** At which the run of a suite has to be over, however wrong the store is. */
  private static final Duration MOST = Duration.ofMinutes(2);

  /**
   * A store, the rules that it breaks, and the tests of them that run in each build. All others run
   * only when the whole gallery does.
   */
  private record Wrong(String name, Suite.Maker maker, Set<String> rules, List<String> tests) {
    @Override
    public String toString() {
      return name;
    }

    boolean breaks(Told told) {
      return told.rules().stream().anyMatch(rules::contains);
    }
  }

  private static Wrong wrong(Suite.Maker maker, Set<String> rules, String... tests) {
    String name = maker.make(null, null).getClass().getSimpleName();
    return new Wrong(name, maker, rules, List.of(tests));
  }

  /** Whether a run goes on to its end, however long that takes. */
  private static final String ALL = System.getProperty("outbox.tck.all", "false");

  private static Stream<Wrong> stores() {
    return Stream.of(
            wrong(LocksUntilSettled::new, Set.of("C4", "S4"), "ends"),
            wrong(ReadsEverything::new, Set.of("C5"), "manyKeys"),
            wrong(CountsEverything::new, Set.of("F1"), "statisticsOfABacklog"),
            wrong(SettlesForAnyone::new, Set.of("S1"), "stale"),
            wrong(GoesOnWithoutTheHead::new, Set.of("O2"), "laterOnesWait"),
            wrong(LooksThenInserts::new, Set.of("A4"), "waitsForCommit"))
        .filter(wrong -> wrong.name().matches(System.getProperty("gallery.only", ".*")));
  }

  @BeforeAll
  static void start() {
    Suite.server = DatabaseServer.postgres();
  }

  @AfterAll
  static void stop() {
    Suite.server.close();
  }

  private static List<Told> failures(Suite.Maker maker, List<String> tests) {
    Suite.maker = maker;
    PostDiscoveryFilter named =
        test ->
            FilterResult.includedIf(
                test.isContainer() || tests.isEmpty() || tests.contains(Told.method(test)));
    return Told.of(
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(Suite.class))
            .filters(named)
            .configurationParameter("outbox.tck.summary", "false")
            .configurationParameter("outbox.tck.all", ALL)
            .execute());
  }

  @Test
  @DisplayName("the store that the others are made from passes")
  void correct() {
    assertThat(failures(PlainStore::new, List.of())).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("stores")
  @DisplayName("a wrong store is told what docs/tck.md says")
  void told(Wrong wrong) throws IOException {
    List<Told> failures = failures(wrong.maker(), wrong.tests());
    assertThat(failures).as("tests that %s fails", wrong).hasSameSizeAs(wrong.tests());
    assertThat(failures).allMatch(wrong::breaks);
    String sentence = failures.get(0).sentence();
    assertThat(Page.comparable(sentence))
        .as("what the suite says to %s: %s", wrong, sentence)
        .isEqualTo(Page.sentence(wrong.name()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("stores")
  @EnabledIfSystemProperty(named = "gallery.full", matches = "true")
  @DisplayName("a wrong store is caught by its rule, and by few others, and soon")
  void caught(Wrong wrong) {
    long begin = System.nanoTime();
    List<Told> failures = failures(wrong.maker(), List.of());
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    Set<String> rules = new TreeSet<>();
    failures.forEach(told -> rules.addAll(told.rules()));
    List<Told> others = failures.stream().filter(told -> !wrong.breaks(told)).toList();
    System.out.printf(
        "| %s | %s | %s | %d | %d | %d s |%n",
        wrong,
        String.join(", ", rules),
        failures.isEmpty() ? "" : failures.get(0).sentence(),
        failures.size(),
        others.size(),
        took.toSeconds());
    failures.forEach(
        told ->
            System.out.printf(
                "    %s %s: %s%n", wrong.breaks(told) ? " " : "!", told.test(), told.sentence()));
    assertThat(failures).as("tests that %s fails", wrong).anyMatch(wrong::breaks);
    if (!ALL.equals("true")) {
      assertThat(took).as("time").isLessThan(MOST);
    }
    assertThat(others.stream().map(Told::toString).collect(Collectors.joining("\n")).lines())
        .as("failures of other rules than %s", wrong.rules())
        .hasSizeLessThanOrEqualTo(2);
  }
}
