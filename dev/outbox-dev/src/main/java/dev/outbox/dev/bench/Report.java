package dev.outbox.dev.bench;

import dev.outbox.dev.bench.CpuClock.Time;
import dev.outbox.dev.common.Percentiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What was measured, on what: one table.
 *
 * @param about what it ran on, by name
 * @param notes what each scenario measures
 */
public record Report(Map<String, String> about, List<Line> lines, Map<String, String> notes) {
  private static final int FIRST_NUMBER = 3;

  private static final String LEGEND =
      """
      Median of the runs; the ratio is the median of ours divided by the limit, run by run. \
      CPU is microseconds a message, ours / limit, in the same runs as the rates: of the servers' processes, of the clients', and of both. \
      The sizes below are those of scale 1.""";

  /** One figure, measured once in each run. */
  record Figure(List<Double> runs, List<Time> cpu) {
    private Figure() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(double value) {
      runs.add(value);
    }

    /**
     * Adds a run.
     *
     * @param time CPU time of a message in microseconds; the server's is not a number where it
     *     cannot be known
     */
    void add(double value, Time time) {
      runs.add(value);
      cpu.add(time);
    }

    /** Whether its CPU time is here, and not elsewhere. */
    boolean hasCpu() {
      return !cpu.isEmpty();
    }

    double median() {
      return Percentiles.median(runs);
    }

    /** Of the server, the client, or both, in which it is the median of the sums. */
    double cpu(ToDoubleFunction<Time> whose) {
      return Percentiles.median(cpu.stream().map(whose::applyAsDouble).toList());
    }
  }

  /**
   * One line of the table.
   *
   * @param name what was measured, as "10 keys, 4 workers"
   * @param unit of the figure, as "messages/s"
   * @param limit as many runs as of ours, or none
   */
  record Line(String scenario, String name, String unit, Figure ours, Figure limit) {
    Line(String scenario, String name, String unit) {
      this(scenario, name, unit, new Figure(), new Figure());
    }

    boolean hasLimit() {
      return !limit.runs().isEmpty();
    }

    /** Of each run: ours divided by the limit's, which was measured next to it. */
    List<Double> ratios() {
      return IntStream.range(0, Math.min(ours.runs().size(), limit.runs().size()))
          .mapToObj(i -> ours.runs().get(i) / limit.runs().get(i))
          .toList();
    }

    /** Empty where there is none, or the limit is zero. */
    private String ratio() {
      double median = hasLimit() ? Percentiles.median(ratios()) : Double.NaN;
      return Double.isFinite(median) ? String.format(Locale.ROOT, "%.2f", median) : "";
    }

    /** Something of both, where it is there. */
    private String both(Function<Figure, String> text) {
      String second = text.apply(limit);
      return text.apply(ours) + (second.isEmpty() ? "" : " / " + second);
    }

    private String cpu(ToDoubleFunction<Time> whose) {
      return both(figure -> figure.hasCpu() ? micros(figure.cpu(whose)) : "");
    }

    private Map<String, String> cells() {
      Map<String, String> cells = new LinkedHashMap<>();
      cells.put("scenario", scenario);
      cells.put("case", name);
      cells.put("unit", unit);
      cells.put("ours", number(ours.median()));
      cells.put("limit", hasLimit() ? number(limit.median()) : "");
      cells.put("ratio", ratio());
      cells.put("server CPU", cpu(Time::server));
      cells.put("client CPU", cpu(Time::client));
      cells.put("CPU", cpu(Time::sum));
      return cells;
    }
  }

  /** The database, the table, and a legend and the machine below. */
  public String markdown() {
    StringBuilder text = new StringBuilder();
    text.append(about.getOrDefault("database", "")).append("\n\n");
    text.append(table(lines.stream().map(Line::cells).toList(), FIRST_NUMBER));
    text.append("\n").append(LEGEND).append("\n\n");
    notes.forEach((scenario, note) -> text.append("- ").append(line(scenario, note)));
    text.append("\n");
    about.forEach((what, value) -> text.append("- ").append(line(what, value)));
    return text.toString();
  }

  private static String line(String name, String text) {
    return name + ": " + text.strip() + "\n";
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

  /**
   * A table in Markdown that can be read as text too.
   *
   * @param rows their cells, by the names of the columns
   * @param firstNumber the first column of numbers; they stand to the right, texts to the left
   */
  public static String table(List<Map<String, String>> rows, int firstNumber) {
    List<List<String>> all = new ArrayList<>();
    all.add(rows.stream().limit(1).flatMap(row -> row.keySet().stream()).toList());
    rows.forEach(row -> all.add(List.copyOf(row.values())));
    int[] widths = new int[all.get(0).size()];
    all.forEach(
        row -> Arrays.setAll(widths, i -> Math.max(Math.max(3, widths[i]), row.get(i).length())));
    all.add(
        1,
        IntStream.range(0, widths.length)
            .mapToObj(i -> "-".repeat(widths[i] - 1) + (i < firstNumber ? "-" : ":"))
            .toList());
    StringBuilder text = new StringBuilder();
    for (List<String> row : all) {
      for (int i = 0; i < widths.length; i++) {
        String spaces = " ".repeat(widths[i] - row.get(i).length());
        text.append("| ")
            .append(i < firstNumber ? row.get(i) + spaces : spaces + row.get(i))
            .append(' ');
      }
      text.append("|\n");
    }
    return text.toString();
  }
}
