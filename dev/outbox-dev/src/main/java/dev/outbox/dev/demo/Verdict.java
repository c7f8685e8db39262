package dev.outbox.dev.demo;

import dev.outbox.dev.common.Percentiles;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the demo's table shows, row by row. */
final class Verdict {
  private final List<String> rows = new ArrayList<>();
  private final Map<String, Long> values = new LinkedHashMap<>();
  private boolean good = true;

  /** Whether no row is one that must be zero, and is not. */
  boolean good() {
    return good;
  }

  /** Of a row with one. */
  long value(String name) {
    return values.getOrDefault(name, -1L);
  }

  void print(PrintWriter out) {
    rows.forEach(out::println);
    out.flush();
  }

  void row(String name, long value, String remark, Object... numbers) {
    values.put(name, value);
    line(name, String.format(Locale.ROOT, "%,12d", value), remark, numbers);
  }

  /** What must be zero. */
  void bad(String name, long count, String meaning) {
    good &= count == 0;
    row(name, count, count == 0 ? "" : "<-- " + meaning);
  }

  /** Times in milliseconds; no row where there are none. */
  void times(String name, List<Double> times, String remark, Object... numbers) {
    if (!times.isEmpty()) {
      String figures =
          String.format(
              Locale.ROOT,
              "p50 %,8d ms   p99 %,8d ms",
              percentile(times, 50),
              percentile(times, 99));
      line(name, figures, remark, numbers);
    }
  }

  /** So many percent took at most this long. There is at least one. */
  static long percentile(List<Double> times, int percent) {
    return Math.round(Percentiles.of(times, percent));
  }

  private void line(String name, String figures, String remark, Object... numbers) {
    String text = String.format(Locale.ROOT, remark, numbers);
    rows.add("  %-20s %s  %s".formatted(name, figures, text).stripTrailing());
  }
}
