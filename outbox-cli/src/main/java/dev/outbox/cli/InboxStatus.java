package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The answer of {@code status --inbox}.
 *
 * @param place null: it cannot say where it is
 * @param passed the limits that are passed, in sentences
 */
record InboxStatus(@Nullable String place, InboxStatistics statistics, List<String> passed) {

  /**
   * Checks the schema, and counts.
   *
   * @param maxExpired a limit, or null
   * @param maxFailed a limit, or null
   */
  static InboxStatus of(
      Object inbox, int cap, @Nullable Long maxExpired, @Nullable Long maxFailed) {
    Stores.verify(inbox);
    int enough = cap(cap(cap, maxExpired), maxFailed);
    InboxStatistics statistics =
        inbox instanceof InboxStore<?> store ? store.statistics(enough) : null;
    if (statistics == null) {
      throw new Failure(inbox.getClass().getSimpleName() + " does not count");
    }
    List<String> passed = new ArrayList<>();
    if (maxExpired != null && statistics.expiredLocks() > maxExpired) {
      passed.add(
          "%s locks have run out, --max-expired is %s"
              .formatted(number(statistics, statistics.expiredLocks()), maxExpired));
    }
    if (maxFailed != null && statistics.failed() > maxFailed) {
      passed.add(
          "%s keys have failed, --max-failed is %s"
              .formatted(number(statistics, statistics.failed()), maxFailed));
    }
    String place = Stores.place(inbox);
    return new InboxStatus(place == null ? null : Texts.printable(place), statistics, passed);
  }

  /** The cap, or what is needed to see that a limit is passed. */
  static int cap(int cap, @Nullable Long limit) {
    return limit == null ? cap : (int) Math.max(cap, Math.min(limit + 1, Integer.MAX_VALUE));
  }

  private static String number(InboxStatistics statistics, long number) {
    return statistics.isAtCap(number) ? number + " or more" : "" + number;
  }

  private Map<String, Long> numbers() {
    Map<String, Long> numbers = new LinkedHashMap<>();
    numbers.put("inProgress", statistics.inProgress());
    numbers.put("expiredLocks", statistics.expiredLocks());
    numbers.put("failed", statistics.failed());
    return numbers;
  }

  Map<String, @Nullable Object> json() {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("place", place);
    all.putAll(numbers());
    all.put("cap", statistics.cap());
    all.put("passedLimits", passed);
    return all;
  }

  void print(PrintWriter out) {
    out.printf("%-22s %s%n", "place", place == null ? "-" : place);
    numbers().forEach((name, value) -> out.printf("%-22s %s%n", name, number(statistics, value)));
    passed.forEach(limit -> out.println("TOO MUCH: " + limit));
  }
}
