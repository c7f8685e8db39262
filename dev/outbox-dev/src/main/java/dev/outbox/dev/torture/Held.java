package dev.outbox.dev.torture;

import java.util.Comparator;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * From when to when somebody surely had a key.
 *
 * @param by a claim, or a lock
 */
record Held(String by, long begin, long end) {

  /**
   * Compares all that had one key.
   *
   * @param overlap is told of each that began before an earlier one's end
   */
  static void compare(List<Held> all, BiConsumer<Held, Held> overlap) {
    all.sort(Comparator.comparingLong(Held::begin));
    Held latest = all.get(0);
    for (Held next : all.subList(1, all.size())) {
      if (next.begin() < latest.end()) {
        overlap.accept(latest, next);
      }
      if (next.end() > latest.end()) {
        latest = next;
      }
    }
  }
}
