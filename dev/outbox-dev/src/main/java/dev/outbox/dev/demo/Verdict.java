package dev.outbox.dev.demo;

import dev.outbox.dev.common.Percentiles;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/**
 * What the demo's table shows.
 *
 * @param all times from commit to delivery, in milliseconds
 * @param quiet the same in quiet times
 */
record Verdict(
    long commits,
    long messages,
    long rollbacks,
    long delivered,
    long duplicates,
    long lost,
    long leaked,
    long orderViolations,
    long deadLetters,
    long effects,
    long repetitions,
    long effectsTwice,
    long effectsMissing,
    double throughput,
    List<Double> all,
    List<Double> quiet) {

  boolean good() {
    return lost + leaked + orderViolations + deadLetters + effectsTwice + effectsMissing == 0;
  }

  /** In milliseconds: so many percent took at most this long. There is at least one. */
  static long percentile(List<Double> times, int percent) {
    return Math.round(Percentiles.of(times, percent));
  }

  /**
   * @param held what is among all times
   */
  void print(Demo.Settings settings, String held, PrintWriter out) {
    row(out, "committed", commits, "transactions with %,d messages", messages);
    row(out, "rolled back", rollbacks, "transactions");
    row(out, "delivered", delivered, "messages");
    row(out, "duplicates", duplicates, "allowed: at least once; consumers know them by the id");
    bad(out, "lost", lost, "committed but not delivered");
    bad(out, "leaked", leaked, "delivered but rolled back, or a repeat");
    bad(out, "order violations", orderViolations, "within a key");
    bad(out, "dead letters", deadLetters, "given up");
    row(out, "effects", effects, "of them in the database of a consumer that was killed twice");
    row(out, "repetitions", repetitions, "that came to it, and its inbox knew");
    bad(out, "effects twice", effectsTwice, "one message, two effects");
    bad(out, "effects missing", effectsMissing, "delivered, and not handled");
    row(
        out,
        "throughput",
        Math.round(throughput),
        "messages a second before quiet times, with %,d transactions a second asked for",
        settings.rate());
    latencies(out, "commit to delivery", all, held);
    latencies(
        out,
        "  in quiet times",
        quiet,
        "of %,d messages in the end, with %,d transactions a second asked for",
        quiet.size(),
        settings.quietRate());
    out.flush();
  }

  private static void bad(PrintWriter out, String name, long count, String meaning) {
    row(out, name, count, count == 0 ? "" : "<-- " + meaning);
  }

  private static void row(
      PrintWriter out, String name, long value, String remark, Object... numbers) {
    line(
        out,
        name,
        String.format(Locale.ROOT, "%,12d", value),
        String.format(Locale.ROOT, remark, numbers));
  }

  private static void latencies(
      PrintWriter out, String name, List<Double> times, String remark, Object... numbers) {
    if (!times.isEmpty()) {
      String figures =
          String.format(
              Locale.ROOT,
              "p50 %,8d ms   p99 %,8d ms",
              percentile(times, 50),
              percentile(times, 99));
      line(out, name, figures, String.format(Locale.ROOT, remark, numbers));
    }
  }

  private static void line(PrintWriter out, String name, String figures, String remark) {
    out.println("  %-20s %s  %s".formatted(name, figures, remark).stripTrailing());
  }
}
