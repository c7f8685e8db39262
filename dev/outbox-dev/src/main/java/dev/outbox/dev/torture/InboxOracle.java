package dev.outbox.dev.torture;

import static java.util.stream.Collectors.groupingBy;

import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.torture.Journal.Line;
import dev.outbox.dev.torture.Oracle.Held;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Judges what consumers did by their inboxes: see {@link Handling} for what they write down.
 *
 * @param wrong is told a sentence for each thing that is wrong
 */
record InboxOracle(List<Line> lines, Consumer<String> wrong) {

  private Stream<Line> lines(String what) {
    return Journal.of(lines, what).stream();
  }

  long count(String what) {
    return lines(what).count();
  }

  /** No effect twice; none missing that somebody was told of, at first or again (I1, I5). */
  void compareEffects(List<Effect> effects) {
    Set<Effect> once = new HashSet<>();
    for (Effect effect : effects) {
      if (!once.add(effect)) {
        wrong.accept("an effect happened twice: " + effect);
      }
    }
    for (Line line : Journal.of(lines, "handled", "repeated")) {
      Effect effect = new Effect(line.detail(0), line.detail(1));
      if (!effect.way().equals(Handling.Way.RESULT.name()) && !once.contains(effect)) {
        wrong.accept(
            "%s was told that it is %s, and there is no effect: %s"
                .formatted(line.process(), line.what(), effect));
      }
    }
    lines("failed").forEach(line -> wrong.accept("an inbox failed: " + line));
    lines("mismatch").forEach(line -> wrong.accept("one message, two fingerprints: " + line));
  }

  /** A key has one live lock (I3). */
  void compareLocks() {
    Map<String, Long> ends = new HashMap<>();
    Map<String, Long> renewed = new HashMap<>();
    lines("unlocks").forEach(line -> ends.put(line.numbered(), line.at()));
    lines("renewed-lock")
        .forEach(
            line ->
                renewed.merge(line.numbered(), until(line.number(1), line.number(2)), Math::max));
    Map<String, List<Held>> byKey = new HashMap<>();
    lines("locked")
        .forEach(
            line -> {
              String lock = line.numbered();
              long until =
                  Math.max(
                      until(line.number(3), line.number(4)),
                      renewed.getOrDefault(lock, Long.MIN_VALUE));
              long end = Math.min(until, ends.getOrDefault(lock, Long.MAX_VALUE));
              if (end > line.at()) { // else it was over before it was given
                byKey
                    .computeIfAbsent(line.detail(1) + " " + line.detail(2), k -> new ArrayList<>())
                    .add(new Held(lock, line.at(), end));
              }
            });
    Held.compare(byKey, "key %s has two live locks: %s and %s", wrong);
  }

  private static long until(long asked, long millis) {
    return asked + millis * 1_000_000;
  }

  /** What is done stays done for its retention, with the result that it had first (I6, I8). */
  void compareResults() {
    Journal.of(lines, "completed", "given", "locked").stream()
        .filter(line -> !isLock(line) || line.detail(1).equals(Handling.Way.RESULT.name()))
        .collect(groupingBy(line -> line.detail(isLock(line) ? 2 : 0)))
        .forEach(this::compareResults);
  }

  private static boolean isLock(Line line) {
    return line.what().equals("locked");
  }

  private void compareResults(String message, List<Line> all) {
    for (Line completed : all) {
      if (!completed.what().equals("completed")) {
        continue;
      }
      long forgottenFrom = completed.number(2) + Handling.RETENTION.toNanos();
      for (Line other : all) {
        long asked = other.number(isLock(other) ? 3 : 2);
        if (asked < completed.at() || other.at() >= forgottenFrom) {
          continue;
        }
        if (isLock(other)) {
          wrong.accept(
              "message %s was forgotten too early: %s after %s"
                  .formatted(message, other, completed));
        } else if (!other.detail(1).equals(completed.detail(1))) {
          wrong.accept(
              "message %s has two results: %s after %s".formatted(message, other, completed));
        }
      }
    }
  }
}
