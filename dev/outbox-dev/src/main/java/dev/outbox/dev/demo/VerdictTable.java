package dev.outbox.dev.demo;

import dev.outbox.dev.demo.Ledger.Verdict;
import java.io.PrintWriter;
import java.util.Locale;

/** The end of the demo. */
final class VerdictTable {
  private VerdictTable() {}

  static void print(Verdict v, DemoSettings settings, String held, PrintWriter out) {
    row(
        out,
        "committed",
        v.commits(),
        String.format(Locale.ROOT, "transactions with %,d messages", v.messages()));
    row(out, "rolled back", v.rollbacks(), "transactions");
    row(out, "delivered", v.delivered(), "messages");
    row(out, "duplicates", v.duplicates(), "allowed: at least once; consumers know them by the id");
    row(out, "lost", v.lost(), bad(v.lost(), "committed but not delivered"));
    row(out, "leaked", v.leaked(), bad(v.leaked(), "delivered but rolled back, or a repeat"));
    row(out, "order violations", v.orderViolations(), bad(v.orderViolations(), "within a key"));
    row(out, "dead letters", v.deadLetters(), bad(v.deadLetters(), "given up"));
    row(out, "effects", v.effects(), "of them in the database of a consumer that was killed twice");
    row(out, "repetitions", v.repetitions(), "that came to it, and its inbox knew");
    row(out, "effects twice", v.effectsTwice(), bad(v.effectsTwice(), "one message, two effects"));
    row(
        out,
        "effects missing",
        v.effectsMissing(),
        bad(v.effectsMissing(), "delivered, and not handled"));
    row(
        out,
        "throughput",
        Math.round(v.throughput()),
        String.format(
            Locale.ROOT,
            "messages a second before quiet times, with %,d transactions a second asked for",
            settings.rate()));
    latencies(out, "commit to delivery", held, v.all());
    latencies(
        out,
        "  in quiet times",
        String.format(
            Locale.ROOT,
            "of %,d messages in the end, with %,d transactions a second asked for",
            v.quiet().count(),
            settings.quietRate()),
        v.quiet());
    out.flush();
  }

  private static String bad(long count, String meaning) {
    return count == 0 ? "" : "<-- " + meaning;
  }

  private static void row(PrintWriter out, String name, long value, String remark) {
    out.println(
        String.format(Locale.ROOT, "  %-20s %,12d  %s", name, value, remark).stripTrailing());
  }

  private static void latencies(PrintWriter out, String name, String remark, Latencies times) {
    if (!times.isEmpty()) {
      String text =
          String.format(
              Locale.ROOT,
              "  %-20s p50 %,8d ms   p99 %,8d ms  %s",
              name,
              times.percentile(50),
              times.percentile(99),
              remark);
      out.println(text.stripTrailing());
    }
  }
}
