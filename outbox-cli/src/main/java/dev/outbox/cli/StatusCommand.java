package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.spi.store.StoreProvider.Opened;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "status",
    description = {
      "Check the schema, count what waits, and say which relays hold something and what is wrong."
          + " Counts up to --cap; what is more is said as so many or more.",
      "With --inbox: count what is in progress, what was left in it, and what failed.",
      "A WARNING or PROBLEM has what to do below it, and leaves the exit code as it is: a probe looks"
          + " at the limits, or at findings of --json, or uses doctor. On PostgreSQL other users'"
          + " sessions are seen by members of pg_read_all_stats only.",
      "Exit codes: 0 fine, whatever was found; 1 a limit (--max-...) is passed; 2 bad usage,"
          + " or the outbox could not be looked at."
    })
final class StatusCommand extends CliCommand implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // set by picocli
  private DatabaseOptions database;

  @Mixin private final DatabaseOptions.TablesOfEither tables = new DatabaseOptions.TablesOfEither();

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Option(
      names = "--max-age",
      paramLabel = "TIME",
      description = "Exit with 1 when the oldest message that is due waits longer, as 60s or 5m.")
  private @Nullable Duration maxAge;

  @Option(
      names = "--max-dead",
      paramLabel = "N",
      description = "Exit with 1 when there are more dead letters.")
  private @Nullable Long maxDead;

  @Option(
      names = "--cap",
      paramLabel = "N",
      converter = Listing.AtLeastOne.class,
      description =
          "Count up to N of each (default: ${DEFAULT-VALUE}); a larger one reads more of a"
              + " backlog.")
  private int cap = StatisticsStore.DEFAULT_CAP;

  /** What was found about an outbox. */
  record Found(@Nullable String place, Diagnosis diagnosis) {
    Statistics statistics() {
      return diagnosis.statistics();
    }

    List<WorkerLease> leases() {
      return diagnosis.leases().orElse(List.of());
    }

    /** All but what is fine. */
    List<Finding> wrong() {
      return diagnosis.findings().stream().filter(one -> !one.isFine()).toList();
    }
  }

  @Override
  public Integer call() {
    tables.refuseOptionsOfTheOther(this, List.of("--max-age", "--max-dead"), List.of());
    Logs.off();
    if (tables.areOfInbox()) {
      inbox();
      return 0;
    }
    List<String> passed = new ArrayList<>();
    Map<String, @Nullable Object> all = outbox(passed);
    if (json) {
      all.put("passedLimits", passed);
      out().println(Json.of(all));
    } else {
      passed.forEach(limit -> out().println("TOO MUCH: " + limit));
    }
    return passed.isEmpty() ? 0 : Main.CHECK_FAILED;
  }

  private void inbox() {
    Map<String, @Nullable Object> rows = new LinkedHashMap<>();
    @Nullable InboxStatistics found;
    try (Opened connected = database.connect(tables)) {
      InboxStore<?> inbox = tables.inbox(connected);
      Stores.verify(inbox);
      rows.put("place", Stores.place(inbox));
      found = inbox.statistics(cap);
      if (found == null) {
        throw new Failure(inbox.getClass().getSimpleName() + " does not count");
      }
    }
    rows.put("inProgress", found.inProgress());
    rows.put("expiredLocks", found.expiredLocks());
    rows.put("failed", found.failed());
    if (json) {
      rows.put("cap", found.cap());
      out().println(Json.of(rows));
    } else {
      print(rows, found::isAtCap, out());
    }
  }

  /** The cap, or what is needed to see that there are too many dead letters. */
  private int enough() {
    return maxDead == null ? cap : (int) Math.max(cap, Math.min(maxDead + 1, Integer.MAX_VALUE));
  }

  private Map<String, @Nullable Object> outbox(List<String> passed) {
    Found found;
    try (Opened connected = database.connect(tables)) {
      OutboxStore<?> store = connected.store();
      Stores.verify(store);
      found =
          new Found(
              Stores.place(store),
              Diagnosis.of(
                  Stores.as(StatisticsStore.class, store), enough(), Instant.now(), List.of()));
    }
    Statistics statistics = found.statistics();
    Duration oldest = statistics.oldest();
    if (maxAge != null && oldest != null && oldest.compareTo(maxAge) > 0) {
      passed.add(
          "the oldest message that is due waits %s s, --max-age is %s s"
              .formatted(seconds(oldest), seconds(maxAge)));
    }
    if (maxDead != null && statistics.dead() > maxDead) {
      passed.add(
          "there are %s dead letters, --max-dead is %s"
              .formatted(number(statistics::isAtCap, statistics.dead()), maxDead));
    }
    if (!json) {
      print(found, out());
    }
    return json(found);
  }

  static @Nullable Double seconds(@Nullable Duration time) {
    return time == null ? null : time.toMillis() / 1000.0;
  }

  static String number(LongPredicate isAtCap, long number) {
    return isAtCap.test(number) ? number + " or more" : "" + number;
  }

  private static Map<String, @Nullable Object> rows(Found found) {
    Statistics statistics = found.statistics();
    Map<String, @Nullable Object> rows = new LinkedHashMap<>();
    rows.put("place", found.place());
    rows.put("pending", statistics.pending());
    rows.put("scheduled", statistics.scheduled());
    rows.put("blocked", statistics.blocked());
    rows.put("dead", statistics.dead());
    rows.put("blockedKeys", statistics.blockedKeys());
    rows.put("haltedKeys", statistics.haltedKeys());
    rows.put("oldestFreeSeconds", seconds(statistics.oldestFree()));
    rows.put("oldestBlockedSeconds", seconds(statistics.oldestBlocked()));
    rows.put("relays", statistics.relays());
    return rows;
  }

  static Map<String, @Nullable Object> json(Found found) {
    Map<String, @Nullable Object> all = rows(found);
    all.put("cap", found.statistics().cap());
    all.put("leases", found.leases());
    all.put("findings", Findings.json(found.wrong()));
    return all;
  }

  static void print(
      Map<String, ? extends @Nullable Object> rows, LongPredicate isAtCap, PrintWriter out) {
    rows.forEach(
        (name, value) ->
            out.printf(
                "%-22s %s%n",
                name,
                value instanceof Long number
                    ? number(isAtCap, number)
                    : value == null ? "-" : value));
  }

  static void print(Found found, PrintWriter out) {
    print(rows(found), found.statistics()::isAtCap, out);
    for (WorkerLease held : found.leases()) {
      out.printf(
          "%-22s %s holds %s buckets since %s until %s%n",
          "worker", Texts.printable(held.worker()), held.buckets(), held.since(), held.until());
    }
    if (found.leases().isEmpty()) {
      out.printf("%-22s none holds anything now%n", "worker");
    }
    Findings.print(found.wrong(), out);
  }
}
