package dev.outbox.cli;

import dev.outbox.spi.store.InspectionStore.Listed;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The dead letters, or other messages, that are there, in parts, and counted by kind.
 *
 * @param subject what they are, as "dead letter"
 * @param parts the sequences of all of them, in parts small enough for a transaction each
 * @param halting how many halt their keys
 * @param kinds by aggregate type, event type and error
 */
record DeadLetterSummary(
    String subject, List<Set<Long>> parts, long halting, Map<String, LongSummaryStatistics> kinds) {

  private static final int PAGE = 1_000;

  /** The most messages in a part. */
  private static final int MOST = 100;

  /** The most kinds that are shown. */
  private static final int MOST_KINDS = 20;

  /** So much is shown of an error. */
  private static final int MOST_ERROR = 100;

  /** Progress is printed after this many more. */
  private static final int TELL = 10_000;

  /** Reads all, by sequence. A message that dies again meanwhile is counted once. */
  static DeadLetterSummary of(
      Listing.Source<Listed> letters, String subject, PrintWriter progress) {
    List<Long> sequences = new ArrayList<>();
    List<Long> halting = new ArrayList<>();
    Map<String, LongSummaryStatistics> kinds = new TreeMap<>();
    Listing.forEach(
        letters,
        PAGE,
        letter -> {
          sequences.add(letter.sequence());
          if (letter.haltsKey()) {
            halting.add(letter.sequence());
          }
          kinds
              .computeIfAbsent(kind(letter), kind -> new LongSummaryStatistics())
              .accept(letter.sequence());
          if (sequences.size() % TELL == 0) {
            progress.printf("%s %ss found%n", sequences.size(), subject);
            progress.flush();
          }
        });
    return new DeadLetterSummary(subject, parts(sequences), halting.size(), kinds);
  }

  /** Splits sequences into parts. */
  static List<Set<Long>> parts(List<Long> sequences) {
    List<Long> distinct = sequences.stream().distinct().toList();
    List<Set<Long>> parts = new ArrayList<>();
    for (int from = 0; from < distinct.size(); from += MOST) {
      parts.add(Set.copyOf(distinct.subList(from, Math.min(from + MOST, distinct.size()))));
    }
    return parts;
  }

  int size() {
    return parts.stream().mapToInt(Set::size).sum();
  }

  private static String kind(Listed letter) {
    String error = Listing.oneLine(letter.error());
    return "%s %s: %s"
        .formatted(
            Listing.oneLine(letter.aggregateType()),
            Listing.oneLine(letter.eventType()),
            error.length() <= MOST_ERROR ? error : error.substring(0, MOST_ERROR) + "…");
  }

  void print(PrintWriter out) {
    out.printf("%s %s%s%s%n", size(), subject, size() == 1 ? "" : "s", parts.isEmpty() ? "." : ":");
    kinds.entrySet().stream()
        .sorted(Comparator.comparing(kind -> -kind.getValue().getCount()))
        .limit(MOST_KINDS)
        .forEach(
            kind ->
                out.printf(
                    "%10s  %s, sequences %s to %s%n",
                    kind.getValue().getCount(),
                    kind.getKey(),
                    kind.getValue().getMin(),
                    kind.getValue().getMax()));
    if (kinds.size() > MOST_KINDS) {
      out.printf("            and %s other kinds%n", kinds.size() - MOST_KINDS);
    }
    if (halting > 0) {
      out.printf("%s of them halt their keys.%n", halting);
    }
    out.flush();
  }
}
