package dev.outbox.dev.bench;

import dev.outbox.cli.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
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
    "server CPU",
    "client CPU",
    "CPU",
    "statements",
    "row writes",
    "bucket writes",
    "log bytes"
  };

  private static final int FIRST_NUMBER = 3;

  private static final String LEGEND =
      """
      Median of the runs; the ratio is the median of ours divided by the limit, run by run. \
      CPU is microseconds a message, ours / limit, in the same runs as the rates: of the servers' processes, of this JVM, and of both. \
      The last four columns are of one message, ours / limit, from a run that was counted and not timed: \
      statements executed by the client (commits are none; on MongoDB commands, commits too); rows (on MongoDB documents) inserted, updated and deleted in the table of messages and its archive \
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
    StringBuilder text = new StringBuilder();
    text.append(about.getOrDefault("database", "")).append("\n\n");
    text.append(Table.markdown(rows, FIRST_NUMBER));
    text.append("\n").append(LEGEND).append("\n\n");
    notes.forEach((scenario, note) -> text.append("- ").append(line(scenario, note)));
    text.append("\n");
    about.forEach((what, value) -> text.append("- ").append(line(what, value)));
    return text.toString();
  }

  private static String line(String name, String text) {
    return name + ": " + text.strip() + "\n";
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
      cpu(line, Cpu::server),
      cpu(line, Cpu::client),
      cpu(line, Cpu::sum),
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

  private static <T> String beside(
      @Nullable T ours, @Nullable T limit, Function<T, String> figure) {
    if (ours == null) {
      return "";
    }
    return figure.apply(ours) + (limit == null ? "" : " / " + figure.apply(limit));
  }

  private static String cost(Line line, ToDoubleFunction<Cost> figure) {
    return beside(line.cost(), line.limitCost(), cost -> number(figure.applyAsDouble(cost)));
  }

  private static String cpu(Line line, ToDoubleFunction<Cpu> figure) {
    return beside(line.cpu(), line.limitCpu(), cpu -> micros(figure.applyAsDouble(cpu)));
  }

  /** A dash where it cannot be known; the report says why once. */
  private static String micros(double value) {
    return Double.isNaN(value) ? "-" : number(value);
  }

  /** Three digits that say something. */
  public static String number(double value) {
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
    return Json.of(all) + "\n";
  }

  private static Map<String, Object> json(Line line) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("scenario", line.scenario());
    all.put("case", line.name());
    all.put("unit", line.unit());
    put(all, "ours", line.ours(), Report::json);
    put(all, "limit", line.limit(), Report::json);
    put(all, "ratio", line.ratio(), Report::json);
    put(all, "perMessage", line.cost(), Cost::perMessage);
    put(all, "limitPerMessage", line.limitCost(), Cost::perMessage);
    put(all, "cpu", line.cpu(), Cpu::byName);
    put(all, "limitCpu", line.limitCpu(), Cpu::byName);
    return all;
  }

  private static <T> void put(
      Map<String, Object> all, String name, @Nullable T value, Function<T, Map<String, ?>> json) {
    if (value != null) {
      all.put(name, json.apply(value));
    }
  }

  private static Map<String, Object> json(Samples samples) {
    return Map.of(
        "median", samples.median(),
        "min", samples.min(),
        "max", samples.max(),
        "runs", samples.values());
  }
}
