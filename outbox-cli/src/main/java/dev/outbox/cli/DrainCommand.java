package dev.outbox.cli;

import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "drain",
    description = {
      "Wait until relays have published all that is due, and all that waits for a retry. Not what is"
          + " due later, nor what waits behind a dead letter for somebody's decision. Changes"
          + " nothing: stop the producers before. What is paused is waited for, too.",
      "Exit codes: 0 nothing is due; 1 the time is over; 2 bad usage, or the outbox could not be"
          + " looked at."
    },
    footer = {"", "Example:", "  outbox drain --timeout 60s --url URL"})
final class DrainCommand extends StoreCommand {
  private static final Duration PAUSE = Duration.ofMillis(500);

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "60s",
      description = "The longest wait, as 60s or 5m; default: ${DEFAULT-VALUE}.")
  private Duration timeout = Duration.ofMinutes(1);

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  int run(Object outbox, PrintWriter out) {
    StatisticsStore store = Stores.as(StatisticsStore.class, outbox);
    long began = System.nanoTime();
    long most = TimeUnit.NANOSECONDS.convert(timeout); // of centuries, as many as it has
    Statistics found = store.statistics(StatisticsStore.DEFAULT_CAP);
    try {
      while (!isDrained(found) && System.nanoTime() - began < most) {
        TimeUnit.NANOSECONDS.sleep(
            Math.max(1, Math.min(PAUSE.toNanos(), most - (System.nanoTime() - began))));
        found = store.statistics(StatisticsStore.DEFAULT_CAP);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean drained = isDrained(found);
    if (json) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("drained", drained);
      all.put("cap", found.cap());
      all.putAll(left(found));
      out.println(Json.of(all));
    } else {
      out.println(
          drained
              ? "Nothing is due."
              : "The time is over, and something is due"
                  + (found.oldest() == null
                      ? "."
                      : ", the oldest for %s s.".formatted(StatusCommand.seconds(found.oldest()))));
      StatusCommand.print(left(found), found::isAtCap, out);
    }
    return drained ? 0 : Main.CHECK_FAILED;
  }

  private static boolean isDrained(Statistics found) {
    return found.oldestFree() == null && found.pending() == 0 && found.blockedKeys() == 0;
  }

  private static Map<String, Long> left(Statistics found) {
    Map<String, Long> left = new LinkedHashMap<>();
    left.put("pending", found.pending());
    left.put("blockedKeys", found.blockedKeys());
    left.put("scheduled", found.scheduled());
    left.put("haltedKeys", found.haltedKeys());
    left.put("dead", found.dead());
    return left;
  }
}
