package dev.outbox.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** What somebody decided about dead letters, some of them in each transaction. */
final class Decisions extends Steps {

  /** Progress is printed after this many more. */
  private static final int TELL = 1_000;

  private final List<Set<Long>> parts;
  private final UnaryOperator<Set<Long>> decide;
  private final String done;
  private final PrintWriter progress;
  private final int total;
  private final Set<Long> missing = new TreeSet<>();
  private volatile int asked;
  private volatile int count;

  /**
   * @param parts the sequences, in the parts that belong together
   * @param decide tells of those that were there
   * @param done what happens to them, as "requeued"
   */
  Decisions(
      List<Set<Long>> parts, UnaryOperator<Set<Long>> decide, String done, PrintWriter progress) {
    this.parts = parts;
    this.decide = decide;
    this.done = done;
    this.progress = progress;
    total = parts.stream().mapToInt(Set::size).sum();
  }

  /** How many were there. */
  int count() {
    return count;
  }

  /** The sequences that were not there. */
  Set<Long> missing() {
    return missing;
  }

  @Override
  boolean next() {
    if (asked == parts.size()) {
      return false;
    }
    Set<Long> part = parts.get(asked);
    Set<Long> found = decide.apply(part);
    Set<Long> others = new HashSet<>(part);
    others.removeAll(found);
    missing.addAll(others);
    int before = count;
    count += found.size();
    asked++;
    if (count / TELL > before / TELL) {
      progress.printf("%s of %s %s%n", count, total, done);
      progress.flush();
    }
    return asked < parts.size();
  }

  @Override
  void cutShort(boolean inDoubt) {
    progress.printf("%s of %s %s before this.%n", count, total, done);
    if (inDoubt && asked < parts.size()) {
      progress.printf(
          "The next %s may have been, too: those that are not there any more.%n",
          parts.get(asked).size());
    }
    progress.println("The same command goes on with the others.");
    progress.flush();
  }

  /** Splits sequences into parts of at most this size. */
  static List<Set<Long>> parts(List<Long> sequences, int most) {
    List<Long> distinct = sequences.stream().distinct().toList();
    List<Set<Long>> parts = new ArrayList<>();
    for (int from = 0; from < distinct.size(); from += most) {
      parts.add(Set.copyOf(distinct.subList(from, Math.min(from + most, distinct.size()))));
    }
    return parts;
  }
}
