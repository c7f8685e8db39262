package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.StoredMessage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The dead letters that are there, in parts, and counted by kind.
 *
 * @param parts the sequences of all of them, in parts small enough for a transaction each
 * @param kinds by aggregate type and event type
 */
record DeadLetterSummary(List<Set<Long>> parts, Map<String, LongSummaryStatistics> kinds) {

  /** Messages a page. All payloads of a page are in memory, and each may be large. */
  private static final int PAGE = 20;

  /** The most messages in a part. */
  static final int MOST = 100;

  private static final long MOST_BYTES = 4_000_000;

  /** The most kinds that are shown. */
  private static final int MOST_KINDS = 20;

  /** Progress is printed after this many more. */
  private static final int TELL = 10_000;

  /** Reads all, by sequence. A message that dies again meanwhile is counted once. */
  static DeadLetterSummary of(DeadLetterStore store, PrintWriter progress) {
    List<Set<Long>> parts = new ArrayList<>();
    Map<String, LongSummaryStatistics> kinds = new TreeMap<>();
    Set<Long> part = new HashSet<>();
    long bytes = 0;
    long found = 0;
    List<DeadLetter> page = store.deadLetters(0, PAGE);
    while (!page.isEmpty()) {
      for (DeadLetter letter : page) {
        StoredMessage message = letter.message();
        kinds
            .computeIfAbsent(kind(message), kind -> new LongSummaryStatistics())
            .accept(message.sequence());
        part.add(message.sequence());
        bytes += message.problem() == null ? message.message().payloadSize() : 0;
        if (part.size() == MOST || bytes >= MOST_BYTES) {
          parts.add(part);
          part = new HashSet<>();
          bytes = 0;
        }
        if (++found % TELL == 0) {
          progress.printf("%d dead letters found%n", found);
          progress.flush();
        }
      }
      page = store.deadLetters(page.get(page.size() - 1).message().sequence(), PAGE);
    }
    if (!part.isEmpty()) {
      parts.add(part);
    }
    return new DeadLetterSummary(parts, kinds);
  }

  int size() {
    return parts.stream().mapToInt(Set::size).sum();
  }

  private static String kind(StoredMessage message) {
    return message.problem() == null
        ? message.message().aggregateType() + " " + message.message().eventType()
        : "undecodable";
  }

  void print(PrintWriter out) {
    out.printf("%d dead letters%s%n", size(), parts.isEmpty() ? "." : ":");
    kinds.entrySet().stream()
        .sorted(Comparator.comparing(kind -> -kind.getValue().getCount()))
        .limit(MOST_KINDS)
        .forEach(
            kind ->
                out.printf(
                    "%10d  %s, sequences %d to %d%n",
                    kind.getValue().getCount(),
                    Texts.printable(kind.getKey()),
                    kind.getValue().getMin(),
                    kind.getValue().getMax()));
    if (kinds.size() > MOST_KINDS) {
      out.printf("            and %d other kinds%n", kinds.size() - MOST_KINDS);
    }
    out.flush();
  }
}
