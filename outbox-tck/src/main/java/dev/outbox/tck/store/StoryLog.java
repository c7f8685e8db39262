package dev.outbox.tck.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What happened in a story, a line each, and what is wrong with it. */
final class StoryLog {
  private final Map<String, Integer> seen;
  private final List<String> lines = new ArrayList<>();

  /** Which rule is broken when, after this step, there are not as many messages as should be. */
  String rule = "S2";

  /**
   * @param seen counts what happened that was worth a story
   */
  StoryLog(Map<String, Integer> seen) {
    this.seen = seen;
  }

  /** What happened, a line each. */
  List<String> lines() {
    return lines;
  }

  void say(String line, Object... values) {
    lines.add(line.formatted(values));
  }

  void add(String more) {
    lines.set(lines.size() - 1, lines.get(lines.size() - 1) + more);
  }

  /** The last line was nothing worth telling. */
  void unsay() {
    lines.remove(lines.size() - 1);
  }

  void saw(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  static String list(Collection<?> things) {
    return things.isEmpty()
        ? "nothing"
        : things.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
