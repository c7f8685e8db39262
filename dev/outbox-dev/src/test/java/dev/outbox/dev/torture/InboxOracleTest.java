package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.torture.Journal.Line;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The inboxes' oracle")
class InboxOracleTest {
  private static final long MILLI = 1_000_000L;
  private static final Effect EFFECT = new Effect("RECORDED", "m");

  private final List<Line> lines = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();
  private final InboxOracle oracle = new InboxOracle(lines, wrong::add);

  private void line(String process, long millis, String what, Object... details) {
    lines.add(
        new Line(
            process,
            millis * MILLI,
            what,
            List.of(details).stream().map(Object::toString).toList()));
  }

  private void locked(String process, long millis, int number, long lock) {
    line(process, millis, "locked", number, "RESULT", "m", (millis - 1) * MILLI, lock);
  }

  private void completed(String process, long millis, String result) {
    line(process, millis, "completed", "m", result, (millis - 1) * MILLI);
  }

  private void given(String process, long millis, String result) {
    line(process, millis, "given", "m", result, (millis - 1) * MILLI);
  }

  @Test
  @DisplayName("is content with one effect, also where nobody was told of it")
  void content() {
    line("a", 1, "handled", "RECORDED", "m");
    line("b", 2, "repeated", "RECORDED", "m");
    oracle.compareEffects(List.of(EFFECT, new Effect("LOCKED", "other")));
    assertThat(wrong).isEmpty();
  }

  @Test
  @DisplayName("sees an effect that happened twice")
  void twice() {
    oracle.compareEffects(List.of(EFFECT, EFFECT));
    assertThat(wrong).containsExactly("an effect happened twice: " + EFFECT);
  }

  @Test
  @DisplayName("sees what is said to be handled, and is not")
  void missing() {
    line("a", 1, "repeated", "RECORDED", "m");
    line("b", 2, "handled", "LOCKED", "n");
    oracle.compareEffects(List.of());
    assertThat(wrong)
        .satisfiesExactly(
            one -> assertThat(one).startsWith("a was told that it is repeated"),
            two -> assertThat(two).startsWith("b was told that it is handled"));
  }

  @Test
  @DisplayName("is content with a lock after one that ran out, or was given back")
  void oneAfterTheOther() {
    locked("a", 10, 1, 100);
    locked("b", 110, 1, 100);
    line("b", 120, "unlocks", 1);
    locked("a", 121, 2, 100);
    oracle.compareLocks();
    assertThat(wrong).isEmpty();
  }

  @Test
  @DisplayName("sees two live locks of a key")
  void twoLocks() {
    locked("a", 10, 1, 100);
    locked("b", 90, 1, 100);
    oracle.compareLocks();
    assertThat(wrong).singleElement().asString().startsWith("key RESULT m has two live locks");
  }

  @Test
  @DisplayName("sees that a prolonged lock was taken")
  void prolonged() {
    locked("a", 10, 1, 100);
    line("a", 60, "renewed-lock", 1, 59 * MILLI, 100);
    locked("b", 130, 1, 100);
    oracle.compareLocks();
    assertThat(wrong).singleElement().asString().contains("a#1", "b#1");
  }

  @Test
  @DisplayName("is content with the same result until it is forgotten, and with another then")
  void forgotten() {
    completed("a", 10, "one");
    given("b", 2_000, "one");
    locked("b", 3_500, 1, 100);
    completed("b", 3_600, "two");
    oracle.compareResults();
    assertThat(wrong).isEmpty();
  }

  @Test
  @DisplayName("sees a result that was forgotten too early, and another result")
  void tooEarly() {
    completed("a", 10, "one");
    locked("b", 2_900, 1, 100);
    given("b", 2_950, "two");
    oracle.compareResults();
    assertThat(wrong)
        .satisfiesExactlyInAnyOrder(
            one -> assertThat(one).startsWith("message m was forgotten too early"),
            two -> assertThat(two).startsWith("message m has two results"));
  }
}
