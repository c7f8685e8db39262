package dev.outbox.store.sqlserver;

import dev.outbox.store.core.internal.Row;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One read that skips locked rows is no snapshot: it passes a message before it is committed, and
 * later, in the same read, meets one behind it in its key. Two reads are as good as one snapshot,
 * in whatever order each visits its rows. A message that the first one found was committed before
 * the second one began. All that stand before it in its key were committed with it or before it
 * (O5). So the second read finds these, and nothing is overtaken if of each key what it gives ends
 * with a message that the first read had found.
 */
final class TwoReads {
  private TwoReads() {}

  /**
   * What can be handed out or moved.
   *
   * @param first the sequences that the first read found
   * @param second all that the second one found from the lowest sequence on, in the same buckets
   */
  static List<Row> together(Set<Long> first, List<Row> second) {
    Map<String, Long> last = new HashMap<>();
    for (Row row : second) {
      if (first.contains(row.sequence())) {
        last.merge(row.key(), row.sequence(), Math::max);
      }
    }
    return second.stream()
        .filter(row -> last.containsKey(row.key()) && row.sequence() <= last.get(row.key()))
        .toList();
  }
}
