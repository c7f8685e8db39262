package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.BenchClient;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.bench.Throughput.Round;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** What a message costs in statements and writes; nothing is timed. */
final class WorkScenario {
  private static final int TRANSACTIONS = 5_000;

  private WorkScenario() {}

  static void run(Bench bench) throws Exception {
    BenchDatabase<?> database = bench.database();
    for (int keys : Draining.KEYS) {
      for (int workers : Draining.WORKERS) {
        Backlog load = new Backlog(bench.scaled(Draining.MESSAGES), keys);
        report(
            bench,
            "drain, %s, %s".formatted(Draining.keys(keys), workers(workers)),
            () -> drained(bench, Side.OURS, Draining.ours(database, load, workers), workers),
            () -> drained(bench, Side.LIMIT, Draining.limit(database, load, workers), workers));
      }
    }
    Backlog load = new Backlog(bench.scaled(Draining.MESSAGES), Draining.MANY_KEYS);
    for (Archive archive : List.of(Archive.METADATA, Archive.FULL)) {
      for (int workers : Draining.WORKERS) {
        Round ours = Draining.archived(database, load, workers, archive);
        Round without = Draining.archived(database, load, workers, Archive.NONE);
        report(
            bench,
            "archive, %s, %s".formatted(archive.name().toLowerCase(Locale.ROOT), workers(workers)),
            () -> drained(bench, Side.OURS, ours, workers),
            () -> drained(bench, Side.OURS, without, workers));
      }
    }
    for (int messages : Transactions.MESSAGES) {
      report(
          bench,
          "append, " + Draining.count(messages, "message") + " a transaction",
          () -> appended(bench, Side.OURS, Append.OUTBOX, messages),
          () -> appended(bench, Side.LIMIT, Append.BARE, messages));
    }
  }

  private static String workers(int count) {
    return Draining.count(count, "worker");
  }

  /**
   * What was done for some messages.
   *
   * @param rows inserted, updated and deleted; not a number where it cannot be known, and then it
   *     has no line
   * @param logBytes the same
   */
  private record Counted(double messages, WorkCounter work, double rows, double logBytes) {}

  private interface Counting {
    Counted count() throws Exception;
  }

  /** Something to be counted. */
  private interface Task {
    /** Returns for how many messages it was done. */
    long through(Access<?> access) throws Exception;
  }

  private static Counted counted(Bench bench, Side side, int connections, Task task)
      throws Exception {
    BenchDatabase<?> database = bench.database();
    WorkCounter counter = new WorkCounter();
    double rows = database.rows(side);
    double logBytes = database.logBytes();
    long messages;
    try (Access<?> access = database.open(connections, counter)) {
      messages = task.through(access);
    }
    rows = database.rows(side) - rows;
    return new Counted(messages, counter, rows, database.logBytes() - logBytes);
  }

  /** Of the rows, the insert that brought a message is one. */
  private static Counted drained(Bench bench, Side side, Round round, int workers)
      throws Exception {
    round.prepare().run();
    Counted done =
        counted(
            bench,
            side,
            BenchDatabase.connections(workers),
            access -> round.run().of(access).total());
    return new Counted(done.messages, done.work, done.rows + done.messages, done.logBytes);
  }

  private static Counted appended(Bench bench, Side side, Append append, int messages)
      throws Exception {
    int transactions = bench.scaled(TRANSACTIONS);
    Transactions.empty(bench);
    return counted(
        bench,
        side,
        1,
        access -> {
          try (BenchClient<?> business = access.business()) {
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
    figures.put(bench.database().requests(), (double) done.work.statements());
    figures.put("round trips", (double) done.work.roundTrips());
    figures.put("written", done.rows);
    figures.put("log bytes", done.logBytes);
    figures.values().removeIf(count -> count.isNaN());
    figures.forEach(
        (what, count) ->
            side.apply(bench.line(name + ": " + what, "a message")).add(count / done.messages));
  }
}
