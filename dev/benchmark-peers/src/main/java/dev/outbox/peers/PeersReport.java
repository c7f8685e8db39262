package dev.outbox.peers;

import dev.outbox.dev.bench.Report;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.peers.Peers.Figures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What was measured: one table. */
final class PeersReport {
  private static final int FIRST_NUMBER = 2;

  private static final String LEGEND =
      """
      Median of the runs. A backlog's time begins when its broker takes messages again, and ends with the last message or when the time is over. \
      p50 and p99 are from the return of a commit to the publisher; a dash where not all messages were published in time. \
      CPU is microseconds a message, of the server's processes, of this JVM, and of both; statements are of one message, \
      counted at the data source; of a load, all of it counts, with the transactions that append. \
      Published: of all runs, of how many. Out of order: messages, of all runs, that came after a later one of their key. Twice: that came again.""";

  private PeersReport() {}

  static String markdown(
      Map<String, Map<Contender, List<Figures>>> all, Map<String, String> about) {
    List<Map<String, String>> rows = new ArrayList<>();
    all.forEach(
        (work, contenders) ->
            contenders.forEach((contender, runs) -> rows.add(cells(work, contender, runs))));
    StringBuilder text = new StringBuilder(Report.table(rows, FIRST_NUMBER));
    text.append('\n').append(LEGEND).append("\n\n");
    Peers.ALL.forEach(
        contender -> text.append("- %s: %s%n".formatted(contender.name(), contender.what())));
    text.append('\n');
    about.forEach((what, value) -> text.append("- %s: %s%n".formatted(what, value)));
    return text.toString();
  }

  static Map<String, String> cells(String work, Contender contender, List<Figures> runs) {
    boolean backlog = runs.stream().allMatch(run -> run.millis().isEmpty());
    Map<String, String> cells = new LinkedHashMap<>();
    cells.put("work", work);
    cells.put("outbox", contender.name());
    cells.put("messages/s", backlog ? median(runs, Figures::rate) : "");
    cells.put("p50 ms", backlog ? "" : median(runs, run -> run.percentile(50)));
    cells.put("p99 ms", backlog ? "" : median(runs, run -> run.percentile(99)));
    cells.put("server CPU", median(runs, run -> run.cpuPerMessage().server()));
    cells.put("client CPU", median(runs, run -> run.cpuPerMessage().client()));
    cells.put("CPU", median(runs, run -> run.cpuPerMessage().sum()));
    cells.put("statements", median(runs, run -> (double) run.statements() / run.arrived()));
    cells.put("published", sum(runs, Figures::arrived) + " of " + sum(runs, Figures::messages));
    cells.put("out of order", sum(runs, Figures::outOfOrder));
    cells.put("twice", sum(runs, Figures::twice));
    return cells;
  }

  private static String sum(List<Figures> runs, ToDoubleFunction<Figures> figure) {
    return String.format(Locale.ROOT, "%,.0f", runs.stream().mapToDouble(figure).sum());
  }

  private static String median(List<Figures> runs, ToDoubleFunction<Figures> figure) {
    double median = Percentiles.median(runs.stream().map(figure::applyAsDouble).toList());
    return !Double.isFinite(median) ? "-" : Report.number(median);
  }
}
