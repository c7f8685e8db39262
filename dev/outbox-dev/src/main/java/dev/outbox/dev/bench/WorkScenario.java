package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Report.Figure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.dev.database.JdbcPlace;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** What a message costs in statements and writes; nothing is timed. */
final class WorkScenario {
  private WorkScenario() {}

  static void run(Bench bench) throws Exception {
    for (Case one : Draining.drains(bench)) {
      bench.say(one.name());
      count(bench, one, Side.OURS, one.ours(), Line::ours);
      count(bench, one, Side.LIMIT, one.limit(), Line::limit);
    }
  }

  /**
   * Rows are those inserted, updated and deleted; the insert that brought a message is one. What
   * cannot be known has no line.
   */
  private static void count(
      Bench bench, Case one, Side side, Round round, Function<Line, Figure> figure)
      throws Exception {
    round.prepare().run();
    BenchDatabase database = bench.database;
    LongAdder statements = new LongAdder();
    double rows = database.rows(side);
    double logBytes = database.logBytes();
    long messages;
    try (JdbcPlace place = database.open(one.connections(), statements)) {
      messages = round.run().of(place).total();
    }
    Map<String, Double> done = new LinkedHashMap<>();
    done.put("statements", statements.doubleValue());
    done.put("written", database.rows(side) - rows + messages);
    done.put("log bytes", database.logBytes() - logBytes);
    done.values().removeIf(count -> count.isNaN());
    done.forEach(
        (what, count) ->
            figure.apply(bench.line(one.name() + ": " + what, "a message")).add(count / messages));
  }
}
