package dev.outbox.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What was measured, on what: one table. Immutable. */
public final class Report {
  private static final String[] HEAD = {
    "scenario",
    "case",
    "unit",
    "ours",
    "limit",
    "ratio",
    "statements",
    "row writes",
    "bucket writes",
    "log bytes"
  };

  private static final int FIRST_NUMBER = 3;

  private static final String LEGEND =
      """
      Median of the runs; the ratio is the median of ours divided by the limit, run by run. \
      The last four columns are of one message, ours / limit, from a run that was counted and not timed: \
      statements executed by the client (commits are none; on MongoDB commands, commits too); rows (on MongoDB documents) inserted, updated and deleted in the table of messages \
      (where messages are drained, with the insert that brought them), and in the table of buckets; bytes of the database's log. \
      The sizes below are those of scale 1.""";

  private final Map<String, String> about;
  private final List<Line> lines;
  private final Map<String, String> notes;

  Report(Map<String, String> about, List<Line> lines, Map<String, String> notes) {
    this.about = new LinkedHashMap<>(about);
    this.lines = List.copyOf(lines);
    this.notes = new LinkedHashMap<>(notes);
  }

  List<Line> lines() {
    return lines;
  }

  /** The database, the table, and a legend and the machine below. */
  public String markdown() {
    List<String[]> rows = new ArrayList<>();
    rows.add(HEAD);
    lines.forEach(line -> rows.add(cells(line)));
    int[] widths = new int[HEAD.length];
    rows.forEach(
        row -> Arrays.setAll(widths, i -> Math.max(Math.max(3, widths[i]), row[i].length())));
    StringBuilder text = new StringBuilder();
    text.append(about.getOrDefault("database", "")).append("\n\n");
    append(text, rows.get(0), widths);
    for (int i = 0; i < widths.length; i++) {
      String dashes = "-".repeat(widths[i] - 1);
      text.append(i < FIRST_NUMBER ? "| -" + dashes + " " : "| " + dashes + ": ");
    }
    text.append("|\n");
    rows.subList(1, rows.size()).forEach(row -> append(text, row, widths));
    text.append("\n").append(LEGEND).append("\n\n");
    notes.forEach((scenario, note) -> text.append("- ").append(line(scenario, note)));
    text.append("\n");
    about.forEach((what, value) -> text.append("- ").append(line(what, value)));
    return text.toString();
  }

  private static String line(String name, String text) {
    return name + ": " + text.strip() + "\n";
  }

  private static void append(StringBuilder text, String[] row, int[] widths) {
    for (int i = 0; i < row.length; i++) {
      String spaces = " ".repeat(widths[i] - row[i].length());
      text.append("| ").append(i < FIRST_NUMBER ? row[i] + spaces : spaces + row[i]).append(' ');
    }
    text.append("|\n");
  }

  private static String[] cells(Line line) {
    Samples limit = line.limit();
    Samples ratio = line.ratio();
    return new String[] {
      line.scenario(),
      line.name(),
      line.unit(),
      number(line.ours().median()),
      limit == null ? "" : number(limit.median()),
      ratio == null ? "" : ratio(ratio.median()),
      cost(line, Cost::statements),
      cost(line, Cost::messageRows),
      cost(line, Cost::bucketRows),
      cost(line, Cost::logBytes),
    };
  }

  /** None where the limit is zero. */
  private static String ratio(double ratio) {
    return Double.isFinite(ratio) ? String.format(Locale.ROOT, "%.2f", ratio) : "";
  }

  private static String cost(Line line, ToDoubleFunction<Cost> figure) {
    Cost ours = line.cost();
    Cost limit = line.limitCost();
    if (ours == null) {
      return "";
    }
    String text = number(figure.applyAsDouble(ours));
    return limit == null ? text : text + " / " + number(figure.applyAsDouble(limit));
  }

  /** Three digits that say something. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "?";
    }
    int decimals = value == 0 || value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 4;
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /** All of it, with each run's value. */
  public String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("about", about);
    all.put("scenarios", notes);
    all.put("lines", lines.stream().map(Report::json).toList());
    return Json.text(all) + "\n";
  }

  private static Map<String, Object> json(Line line) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("scenario", line.scenario());
    all.put("case", line.name());
    all.put("unit", line.unit());
    put(all, "ours", line.ours());
    put(all, "limit", line.limit());
    put(all, "ratio", line.ratio());
    put(all, "perMessage", line.cost());
    put(all, "limitPerMessage", line.limitCost());
    return all;
  }

  private static void put(Map<String, Object> all, String name, @Nullable Samples samples) {
    if (samples != null) {
      all.put(
          name,
          new LinkedHashMap<>(
              Map.of(
                  "median", samples.median(),
                  "min", samples.min(),
                  "max", samples.max(),
                  "runs", samples.values())));
    }
  }

  private static void put(Map<String, Object> all, String name, @Nullable Cost cost) {
    if (cost != null) {
      all.put(name, cost.perMessage());
    }
  }
}
