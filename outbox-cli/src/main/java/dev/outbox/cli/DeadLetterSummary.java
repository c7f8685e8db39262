package dev.outbox.cli;

import dev.outbox.spi.DeadLetterStore;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.ErrorText;
import dev.outbox.spi.StoredMessage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * What dead letters there are, by what they are about.
 *
 * @param sequences of all of them
 * @param kinds by aggregate type and event type
 */
record DeadLetterSummary(List<Long> sequences, Map<String, LongSummaryStatistics> kinds) {

  /** So many kinds are shown. */
  private static final int MOST = 20;

  static DeadLetterSummary of(DeadLetterStore store, int page) {
    List<Long> sequences = new ArrayList<>();
    Map<String, LongSummaryStatistics> kinds = new TreeMap<>();
    forEach(
        store,
        page,
        letter -> {
          long sequence = letter.message().sequence();
          sequences.add(sequence);
          kinds
              .computeIfAbsent(kind(letter.message()), kind -> new LongSummaryStatistics())
              .accept(sequence);
        });
    return new DeadLetterSummary(sequences, kinds);
  }

  private static String kind(StoredMessage message) {
    return message.problem() == null
        ? message.message().aggregateType() + " " + message.message().eventType()
        : "undecodable";
  }

  /** In sequence order, and none twice though it dies again meanwhile. */
  static void forEach(DeadLetterStore store, int page, Consumer<DeadLetter> use) {
    long after = 0;
    while (true) {
      List<DeadLetter> letters = store.deadLetters(after, page);
      for (DeadLetter letter : letters) {
        after = letter.message().sequence();
        use.accept(letter);
      }
      if (letters.size() < page) {
        return;
      }
    }
  }

  void print(PrintWriter out) {
    out.printf("%d dead letters%s%n", sequences.size(), sequences.isEmpty() ? "." : ":");
    kinds.entrySet().stream()
        .sorted(Comparator.comparing(kind -> -kind.getValue().getCount()))
        .limit(MOST)
        .forEach(
            kind ->
                out.printf(
                    "%10d  %s, sequences %d to %d%n",
                    kind.getValue().getCount(),
                    ErrorText.printable(kind.getKey()),
                    kind.getValue().getMin(),
                    kind.getValue().getMax()));
    if (kinds.size() > MOST) {
      out.printf("            and %d other kinds%n", kinds.size() - MOST);
    }
    out.flush();
  }
}
