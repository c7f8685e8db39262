package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.memory.BrokenInboxes;
import dev.outbox.store.memory.BrokenStores;
import dev.outbox.tck.inbox.InboxStoreTck;
import dev.outbox.tck.internal.RuleNames;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.BrokenPublishers;
import dev.outbox.tck.publisher.PublisherTck;
import dev.outbox.tck.store.OutboxStoreTck;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.AnnotationSupport;

/** SPEC.md, the suites and the broken implementations know the same rules. */
class SpecTest {
  private static final Path SPEC = Path.of("..", "SPEC.md");
  private static final Pattern RULE =
      Pattern.compile("(?m)^- \\*\\*([A-Z][0-9]+)\\*\\* \\((core|optional|untestable)\\) \\S");
  private static final List<Class<?>> SUITES =
      List.of(OutboxStoreTck.class, InboxStoreTck.class, PublisherTck.class);
  private static final List<Class<?>> BROKEN =
      List.of(BrokenStores.class, BrokenInboxes.class, BrokenPublishers.class);

  private static Set<String> rules(String marks) throws IOException {
    Set<String> rules = new TreeSet<>();
    for (Matcher m = RULE.matcher(Files.readString(SPEC)); m.find(); ) {
      if (marks.contains(m.group(2))) {
        assertThat(rules.add(m.group(1))).as("rule %s stands once in SPEC.md", m.group(1)).isTrue();
      }
    }
    return rules;
  }

  /**
   * The rules of the tests of the suites, those of their nested classes and of what these extend.
   */
  private static Set<String> tested() {
    return SUITES.stream()
        .flatMap(SpecTest::tests)
        .flatMap(test -> RuleNames.rules(test).stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<Method> tests(Class<?> suite) {
    return Stream.concat(Stream.of(suite), Stream.of(suite.getDeclaredClasses()))
        .flatMap(SpecTest::withSuperclasses)
        .flatMap(type -> Stream.of(type.getDeclaredMethods()))
        .filter(method -> AnnotationSupport.isAnnotated(method, Test.class));
  }

  private static Stream<Class<?>> withSuperclasses(Class<?> type) {
    return Stream.iterate(type, t -> t != null && t != Object.class, Class::getSuperclass);
  }

  private static Set<String> broken() {
    return BROKEN.stream()
        .flatMap(type -> Stream.of(type.getDeclaredClasses()))
        .filter(type -> type.isAnnotationPresent(Rule.class))
        .flatMap(type -> Stream.of(type.getAnnotation(Rule.class).value()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  @DisplayName("SPEC.md has the rules, marked in the form that this test reads")
  void form() throws IOException {
    assertThat(rules("core"))
        .containsExactly(
            "A1", "A2", "A3", "A4", "A5", "A6", "C1", "C2", "C3", "C4", "C6", "C7", "I1", "I2",
            "I3", "I4", "I5", "I6", "I7", "I8", "O1", "O2", "O3", "O4", "P1", "P2", "P3", "P4",
            "P5", "S1", "S2", "S3", "S4", "S5");
    assertThat(rules("optional"))
        .containsExactly(
            "C10", "C5", "C8", "C9", "E1", "F1", "F2", "F3", "P6", "S6", "S7", "S8", "T1");
    assertThat(rules("untestable")).containsExactly("O5");
  }

  @Test
  @DisplayName("every core rule has an implementation that breaks it")
  void everyCoreRuleIsBroken() throws IOException {
    assertThat(broken()).as("rules with a broken implementation").containsAll(rules("core"));
  }

  @Test
  @DisplayName("every rule has a test, and every test's rule stands in SPEC.md")
  void everyRuleIsTested() throws IOException {
    assertThat(tested())
        .as("rules on the tests of the suites")
        .isEqualTo(rules("core optional untestable"));
  }

  @Test
  @DisplayName("every test of a suite is named by its rule: @Sentence, not @DisplayName")
  void everyNameHasItsRule() {
    assertThat(SUITES.stream().flatMap(SpecTest::tests))
        .as("tests without @Sentence, or with @DisplayName, which would hide the rule")
        .allMatch(test -> test.isAnnotationPresent(Sentence.class))
        .noneMatch(test -> test.isAnnotationPresent(DisplayName.class));
    assertThat(SUITES)
        .allSatisfy(
            suite ->
                assertThat(suite.getAnnotation(DisplayNameGeneration.class).value())
                    .isEqualTo(RuleNames.class));
  }

  @Test
  @DisplayName("no two tests of a suite have one name: Surefire takes them for runs of one test")
  void namesAreUnique() {
    for (Class<?> suite : SUITES) {
      assertThat(tests(suite).map(Method::getName))
          .as("names of the tests of %s", suite.getSimpleName())
          .doesNotHaveDuplicates();
    }
  }

  @Test
  @DisplayName("every rule says what it is for")
  void everyRuleHasItsIntent() throws IOException {
    for (String rule : Files.readString(SPEC).split("(?m)^(?=- \\*\\*|## )")) {
      if (RULE.matcher(rule).find()) {
        assertThat(rule).contains("\n  *Intent: ");
      }
    }
  }
}
