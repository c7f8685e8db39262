package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchClient.Append;
import dev.outbox.dev.bench.BenchDatabase.Side;
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
  private static final int TRANSACTIONS = 5_000;

  private WorkScenario() {}

  static void run(Bench bench) throws Exception {
    for (Case one : Draining.drains(bench)) {
      drained(bench, "drain, ", one, Side.LIMIT);
    }
    for (Case one : Draining.archives(bench)) {
      drained(bench, "archive, ", one, Side.OURS);
    }
    for (int messages : Transactions.MESSAGES) {
      report(
          bench,
          "append, " + Draining.count(messages, "message") + " a transaction",
          () -> appended(bench, Side.OURS, Append.OUTBOX, messages),
          () -> appended(bench, Side.LIMIT, Append.BARE, messages));
    }
  }

  /**
   * Reports a case.
   *
   * @param limit whose tables its limit uses
   */
  private static void drained(Bench bench, String begin, Case one, Side limit) throws Exception {
    report(
        bench,
        begin + one.name(),
        () -> drained(bench, Side.OURS, one.ours(), one.connections()),
        () -> drained(bench, limit, one.limit(), one.connections()));
  }

  /**
   * What was done for some messages.
   *
   * @param rows inserted, updated and deleted; not a number where it cannot be known, and then it
   *     has no line
   * @param logBytes the same
   */
  private record Counted(double messages, double statements, double rows, double logBytes) {}

  private interface Counting {
    Counted count() throws Exception;
  }

  /** Something to be counted. */
  private interface Task {
    /** Returns for how many messages it was done. */
    long through(JdbcPlace place) throws Exception;
  }

  private static Counted counted(Bench bench, Side side, int connections, Task task)
      throws Exception {
    BenchDatabase database = bench.database();
    LongAdder counter = new LongAdder();
    double rows = database.rows(side);
    double logBytes = database.logBytes();
    long messages;
    try (JdbcPlace place = database.open(connections, counter)) {
      messages = task.through(place);
    }
    rows = database.rows(side) - rows;
    return new Counted(messages, counter.sum(), rows, database.logBytes() - logBytes);
  }

  /** Of the rows, the insert that brought a message is one. */
  private static Counted drained(Bench bench, Side side, Round round, int connections)
      throws Exception {
    round.prepare().run();
    Counted done = counted(bench, side, connections, place -> round.run().of(place).total());
    return new Counted(done.messages, done.statements, done.rows + done.messages, done.logBytes);
  }

  private static Counted appended(Bench bench, Side side, Append append, int messages)
      throws Exception {
    int transactions = bench.scaled(TRANSACTIONS);
    Transactions.empty(bench);
    return counted(
        bench,
        side,
        1,
        place -> {
          try (BenchClient business = new BenchClient(place)) {
            for (int i = 0; i < transactions; i++) {
              business.transaction(append, Transactions.messages(i, messages));
            }
          }
          return (long) transactions * messages;
        });
  }

  private static void report(Bench bench, String name, Counting ours, Counting limit)
      throws Exception {
    bench.say(name);
    add(bench, name, Line::ours, ours.count());
    add(bench, name, Line::limit, limit.count());
  }

  private static void add(Bench bench, String name, Function<Line, Figure> side, Counted done) {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("statements", done.statements);
    figures.put("written", done.rows);
    figures.put("log bytes", done.logBytes);
    figures.values().removeIf(count -> count.isNaN());
    figures.forEach(
        (what, count) ->
            side.apply(bench.line(name + ": " + what, "a message")).add(count / done.messages));
  }
}
