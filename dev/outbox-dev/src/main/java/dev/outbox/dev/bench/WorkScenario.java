package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/** What a message costs in statements and writes; nothing is timed. */
final class WorkScenario extends Scenario {
  private static final int TRANSACTIONS = 5_000;
  private static final int WORKERS = 1;

  WorkScenario() {
    super(
        "work",
        """
        Drain with one worker, and append, counted and not timed. For a message: statements in all and by their first word, \
        commits not, or on MongoDB commands in all and by name, commits too; how often clients wait for the server; \
        the rows or documents written, with the insert that brought the message. Limit: the loop of drain, \
        the bare inserts of append. The insert of append's business row is among the statements of both.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    for (int keys : List.of(DrainScenario.MANY_KEYS, 1)) {
      String name = "drain, " + DrainScenario.keys(keys);
      bench.progress(name() + ", " + name);
      Case drain = drain(bench, keys);
      report(
          bench,
          name,
          Throughput.counted(bench, drain, Side.OURS),
          Throughput.counted(bench, drain, Side.LIMIT));
    }
    for (int messages : AppendScenario.MESSAGES) {
      String name = "append, " + DrainScenario.count(messages, "message") + " a transaction";
      bench.progress(name() + ", " + name);
      int transactions = bench.scaled(TRANSACTIONS);
      report(
          bench,
          name,
          AppendScenario.counted(bench, Append.OUTBOX, Side.OURS, transactions, messages),
          AppendScenario.counted(bench, Append.BARE, Side.LIMIT, transactions, messages));
    }
  }

  private static Case drain(Bench bench, int keys) {
    Load load = new Load(bench.scaled(DrainScenario.MESSAGES), keys);
    return new Case(
        "",
        BenchDatabase.connections(WORKERS),
        Fill.ours(bench.database(), load, WORKERS),
        Fill.limit(bench.database(), load, WORKERS));
  }

  private void report(Bench bench, String name, Cost ours, Cost limit) {
    Map<String, ToDoubleFunction<Cost>> figures = new LinkedHashMap<>();
    figures.put(bench.database().requests(), Cost::statements);
    Set<String> names = new TreeSet<>(ours.work().statements().keySet());
    names.addAll(limit.work().statements().keySet());
    names.forEach(each -> figures.put(each, cost -> cost.statements(each)));
    figures.put("round trips", Cost::roundTrips);
    figures.put("written", Cost::rows);
    figures.forEach(
        (what, of) ->
            report(
                bench,
                name + ": " + what,
                "a message",
                Figure.of(of.applyAsDouble(ours)),
                Figure.of(of.applyAsDouble(limit))));
  }
}
