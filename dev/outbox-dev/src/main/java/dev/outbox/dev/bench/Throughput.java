package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Report.Figure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.database.JdbcPlace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Cases whose rate, or work, is compared with the limit's. For the rate an untimed round comes
 * first; then, run by run and case by case, ours and the limit by turns.
 */
final class Throughput {
  /**
   * A part of the messages, whose rate becomes a line of its own.
   *
   * @param name follows the case's
   */
  record Part(String name, int from, int to) {
    static final Part WHOLE = new Part("", 0, Meter.TENTHS);
  }

  interface Step {
    void run() throws Exception;
  }

  interface Run {
    Meter of(JdbcPlace place) throws Exception;
  }

  /**
   * One side of a case.
   *
   * @param prepare is not timed
   */
  record Round(Step prepare, Run run) {}

  /**
   * What is compared.
   *
   * @param connections of the pool
   */
  record Case(String name, int connections, Round ours, Round limit) {}

  private static final String UNIT = "messages/s";

  private Throughput() {}

  static void measure(Bench bench, List<Case> cases, Part... parts) throws Exception {
    Map<Case, JdbcPlace> pools = new LinkedHashMap<>();
    try {
      for (Case one : cases) {
        pools.put(one, bench.database.open(one.connections()));
      }
      for (int run = 0; run <= bench.runs; run++) {
        for (Map.Entry<Case, JdbcPlace> each : pools.entrySet()) {
          Case one = each.getKey();
          bench.say(one.name(), run);
          List<Part> reported = run > 0 ? List.of(parts) : List.of();
          time(bench, one, one.ours(), Line::ours, each.getValue(), reported);
          time(bench, one, one.limit(), Line::limit, each.getValue(), reported);
        }
      }
    } finally {
      pools.values().forEach(JdbcPlace::close);
    }
  }

  /** Only the whole has its CPU time. */
  private static void time(
      Bench bench,
      Case one,
      Round round,
      Function<Line, Figure> side,
      JdbcPlace place,
      List<Part> parts)
      throws Exception {
    round.prepare().run();
    bench.settle();
    CpuClock.Time before = bench.cpu.now();
    Meter pace = round.run().of(place);
    CpuClock.Time cpu = bench.cpu.now().since(before).perMessage(pace.total());
    for (Part part : parts) {
      Figure figure = side.apply(bench.line(one.name() + part.name(), UNIT));
      double rate = pace.rate(part.from(), part.to());
      if (part.equals(Part.WHOLE)) {
        figure.add(rate, cpu);
      } else {
        figure.add(rate);
      }
    }
  }

  /** Counts what is done for a message, in statements and writes, of each case once. */
  static void count(Bench bench, List<Case> cases) throws Exception {
    for (Case one : cases) {
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
