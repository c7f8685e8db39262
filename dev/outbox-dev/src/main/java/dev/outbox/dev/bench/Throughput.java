package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.database.JdbcPlace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cases whose rate is compared with the limit's. An untimed round first; then, run by run and case
 * by case, ours and the limit by turns.
 */
final class Throughput {
  /** A part of the messages whose rate becomes a line of its own; without a name, the main one. */
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

  /** How fast it was, and what it took: nanoseconds for all messages. */
  private record Timed(Meter pace, CpuClock.Time cpu) {}

  private static final String UNIT = "messages/s";

  private Throughput() {}

  static void measure(Bench bench, List<Case> cases, Part... parts) throws Exception {
    Map<Case, JdbcPlace> pools = new LinkedHashMap<>();
    try {
      for (Case one : cases) {
        pools.put(one, bench.database().open(one.connections()));
      }
      for (int run = 0; run <= bench.runs(); run++) {
        for (Map.Entry<Case, JdbcPlace> each : pools.entrySet()) {
          Case one = each.getKey();
          bench.say(one.name(), run);
          Timed ours = timed(bench, one.ours(), each.getValue());
          Timed limit = timed(bench, one.limit(), each.getValue());
          if (run > 0) {
            report(bench, one, parts, ours, limit);
          }
        }
      }
    } finally {
      pools.values().forEach(JdbcPlace::close);
    }
  }

  private static Timed timed(Bench bench, Round round, JdbcPlace place) throws Exception {
    round.prepare().run();
    bench.settle();
    CpuClock.Time before = bench.cpu().now();
    Meter pace = round.run().of(place);
    return new Timed(pace, bench.cpu().now().since(before));
  }

  private static void report(Bench bench, Case one, Part[] parts, Timed ours, Timed limit) {
    for (Part part : parts) {
      boolean main = part.name().isEmpty();
      String name = main ? one.name() : one.name() + ", " + part.name();
      Line line = bench.line(name, UNIT);
      add(line.ours(), ours, part, main);
      add(line.limit(), limit, part, main);
    }
  }

  /** Only the main one has its CPU time. */
  private static void add(Figure figure, Timed run, Part part, boolean main) {
    double rate = run.pace().rate(part.from(), part.to());
    if (main) {
      figure.add(rate, run.cpu().perMessage(run.pace().total()));
    } else {
      figure.add(rate);
    }
  }
}
