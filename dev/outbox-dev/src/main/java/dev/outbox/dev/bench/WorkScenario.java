package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.bench.Throughput.Case;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/** What a message costs in statements and writes; nothing is timed. */
final class WorkScenario {
  private static final int TRANSACTIONS = 5_000;
  private static final int WORKERS = 1;

  private WorkScenario() {}

  static void run(Bench bench) throws Exception {
    for (int keys : List.of(Draining.MANY_KEYS, 1)) {
      String name = "drain, " + Draining.keys(keys);
      bench.say(name);
      Case drain = drain(bench, keys);
      report(
          bench,
          name,
          Throughput.counted(bench, drain, Side.OURS),
          Throughput.counted(bench, drain, Side.LIMIT));
    }
    for (int messages : Transactions.MESSAGES) {
      String name = "append, " + Draining.count(messages, "message") + " a transaction";
      bench.say(name);
      int transactions = bench.scaled(TRANSACTIONS);
      report(
          bench,
          name,
          Transactions.counted(bench, Append.OUTBOX, Side.OURS, transactions, messages),
          Transactions.counted(bench, Append.BARE, Side.LIMIT, transactions, messages));
    }
  }

  private static Case drain(Bench bench, int keys) {
    Backlog load = new Backlog(bench.scaled(Draining.MESSAGES), keys);
    return new Case(
        "",
        BenchDatabase.connections(WORKERS),
        Draining.ours(bench.database(), load, WORKERS),
        Draining.limit(bench.database(), load, WORKERS));
  }

  private static void report(Bench bench, String name, Cost ours, Cost limit) {
    Map<String, ToDoubleFunction<Cost>> figures = new LinkedHashMap<>();
    figures.put(bench.database().requests(), Cost::statements);
    Set<String> names = new TreeSet<>(ours.work().statements().keySet());
    names.addAll(limit.work().statements().keySet());
    names.forEach(each -> figures.put(each, cost -> cost.statements(each)));
    figures.put("round trips", Cost::roundTrips);
    figures.put("written", Cost::rows);
    figures.forEach(
        (what, of) -> {
          Line line = bench.line(name + ": " + what, "a message");
          line.ours().add(of.applyAsDouble(ours));
          line.limit().add(of.applyAsDouble(limit));
        });
  }
}
