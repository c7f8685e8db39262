package dev.outbox.tck.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.opentest4j.AssertionFailedError;

/** What happened in a story, a line each, and what is wrong with it. */
final class StoryLog {
  private final Map<String, Integer> seen;
  private final List<String> lines = new ArrayList<>();

  /** How many lines there were before the end began. */
  private int played = Integer.MAX_VALUE;

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  String rule = "S2";

  /**
   * @param seen counts what happened that was worth a story
   */
  StoryLog(Map<String, Integer> seen) {
    this.seen = seen;
  }

  void endBegins() {
    played = lines.size();
  }

  /**
   * What happened, a line each. Empty claims at the end, by which it is seen that nothing is left,
   * are not told, unless the last says what is wrong.
   */
  List<String> lines() {
    List<String> told = new ArrayList<>(lines.subList(0, Math.min(played, lines.size())));
    for (int i = told.size(); i < lines.size(); i++) {
      String line = lines.get(i);
      if (i == lines.size() - 1 || !(line.startsWith("claim ") && line.endsWith(": nothing"))) {
        told.add(line);
      }
    }
    return told;
  }

  void say(String line, Object... values) {
    lines.add(line.formatted(values));
  }

  void add(String more) {
    lines.set(lines.size() - 1, lines.get(lines.size() - 1) + more);
  }

  void saw(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  /** Otherwise the rule is broken, and this is said. */
  static void mustBe(String rule, boolean condition, String otherwise, Object... values) {
    if (!condition) {
      throw new AssertionFailedError(rule + ": " + otherwise.formatted(values));
    }
  }

  static String list(Collection<?> things) {
    return things.isEmpty()
        ? "nothing"
        : things.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
