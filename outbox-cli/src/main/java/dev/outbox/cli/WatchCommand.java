package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.StatusCommand.Found;
import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Flow;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "watch",
    description = {
      "Show what status shows, again and again, with how many messages come and go a second, until"
          + " Ctrl-C. On a terminal on one screen; else a line for each look.",
      "A look reads at most nine times, locks nothing, and counts up to 10,000 of each. What comes"
          + " and goes is known of PostgreSQL; of others, how the number of messages changes."
    },
    footer = {
      "",
      "Examples:",
      "  outbox watch --url URL",
      "  outbox watch --interval 10s --json --url URL >> outbox.log",
      "  outbox watch --count 1 --json --url URL"
    })
final class WatchCommand extends StoreCommand {
  private static final Duration LEAST = Duration.ofMillis(100);

  private static final String REDRAW = "\u001b[H\u001b[J";

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      defaultValue = "1s",
      description = "From look to look, at least 100ms; default: ${DEFAULT-VALUE}.")
  private Duration interval = Duration.ofSeconds(1);

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "End after so many looks; default: never.")
  private long count = Long.MAX_VALUE;

  @Option(names = "--json", description = "Print a line with a JSON object for each look.")
  private boolean json;

  /** Those of the last seconds, the oldest first. */
  private final Deque<Look> looks = new ArrayDeque<>();

  @Override
  void check() {
    if (interval.compareTo(LEAST) < 0 || count < 1) {
      throw new Failure(
          "--interval is %s and --count is %s, at least 100ms and 1 are needed"
              .formatted(Texts.time(interval), count));
    }
  }

  /**
   * @param flow null: the store cannot say
   */
  private record Look(Diagnosis diagnosis, @Nullable Flow flow, long nanos) {
    /** How many messages there are; null: more than were counted. */
    @Nullable Long all() {
      Statistics now = diagnosis.statistics();
      List<Long> each = List.of(now.pending(), now.scheduled(), now.blocked(), now.dead());
      return each.stream().anyMatch(now::isAtCap)
          ? null
          : each.stream().mapToLong(Long::longValue).sum();
    }
  }

  @Override
  int run(Object outbox, PrintWriter out) {
    StatisticsStore store = Stores.as(StatisticsStore.class, outbox);
    Stores.verify(store);
    String place = Stores.place(store);
    int status = Main.NOT_DONE;
    try {
      for (long look = 1; ; look++) {
        try {
          print(place, look(store), out);
          status = 0;
        } catch (TransientOutboxException e) {
          err().println("outbox: " + Listing.oneLine(e.getMessage()));
          err().flush();
        }
        if (look == count || out.checkError() || System.out.checkError()) {
          return status;
        }
        TimeUnit.NANOSECONDS.sleep(TimeUnit.NANOSECONDS.convert(interval));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  private Look look(StatisticsStore store) {
    long now = System.nanoTime();
    List<Diagnosis> earlier = looks.stream().map(Look::diagnosis).toList();
    Look look =
        new Look(
            Diagnosis.of(store, StatisticsStore.DEFAULT_CAP, Instant.now(), earlier),
            store.flow().orElse(null),
            now);
    while (looks.size() > 1
        && now - looks.getFirst().nanos() > Diagnosis.APART.multipliedBy(2).toNanos()) {
      looks.removeFirst();
    }
    looks.add(look);
    return look;
  }

  /**
   * Messages a second since the look before, by name; those that nobody knows are left out, as
   * where the server has begun to count anew.
   */
  private Map<String, @Nullable Object> rates(Look look) {
    Map<String, @Nullable Object> rates = new LinkedHashMap<>();
    Look before = looks.stream().filter(old -> old != look).reduce((a, b) -> b).orElse(look);
    double seconds = (look.nanos() - before.nanos()) / (double) TimeUnit.SECONDS.toNanos(1);
    if (seconds > 0) {
      Flow now = look.flow();
      Flow then = before.flow();
      if (now != null && then != null && now.in() >= then.in() && now.out() >= then.out()) {
        rates.put("in", rate(now.in() - then.in(), seconds));
        rates.put("out", rate(now.out() - then.out(), seconds));
      }
      Long all = look.all();
      Long were = before.all();
      if (all != null && were != null) {
        rates.put("change", rate(all - were, seconds));
      }
    }
    return rates;
  }

  /** To a tenth. */
  private static double rate(long messages, double seconds) {
    return Math.round(10 * messages / seconds) / 10.0;
  }

  private void print(@Nullable String place, Look look, PrintWriter out) {
    Found found = new Found(place, look.diagnosis());
    Map<String, @Nullable Object> rates = rates(look);
    if (json) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("at", look.diagnosis().at());
      all.put("delivery", Listing.oneLine(look.diagnosis().delivery().sentence()));
      all.put("perSecond", rates);
      all.putAll(StatusCommand.json(found));
      out.println(Json.of(all));
    } else {
      String line = line(look.diagnosis(), rates);
      if (Terminal.isThere()) {
        StringWriter screen = new StringWriter();
        StatusCommand.print(found, new PrintWriter(screen, true));
        out.print(REDRAW + screen); // a terminal that is too small shows the end
        out.print(line);
      } else {
        out.println(line);
      }
    }
    out.flush();
  }

  private static String line(Diagnosis diagnosis, Map<String, @Nullable Object> rates) {
    Statistics now = diagnosis.statistics();
    List<String> parts = new ArrayList<>();
    parts.add(
        "oldest %s s".formatted(now.oldest() == null ? "-" : StatusCommand.seconds(now.oldest())));
    parts.add("pending " + StatusCommand.number(now::isAtCap, now.pending()));
    parts.add("blocked " + StatusCommand.number(now::isAtCap, now.blocked()));
    parts.add("dead " + StatusCommand.number(now::isAtCap, now.dead()));
    rates.forEach((name, rate) -> parts.add("%s %s/s".formatted(name, rate)));
    Map<String, String> wrong = new LinkedHashMap<>(); // of several of a kind the first
    diagnosis.others().stream()
        .filter(one -> !one.isFine())
        .forEach(one -> wrong.putIfAbsent(one.what(), Listing.oneLine(one.sentence())));
    wrong.forEach((what, sentence) -> parts.add(what + ": " + sentence));
    return "%s %s: %s"
        .formatted(
            diagnosis.at().truncatedTo(ChronoUnit.SECONDS),
            Listing.oneLine(diagnosis.delivery().sentence()),
            String.join(", ", parts));
  }
}
