package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Report.Figure;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.database.JdbcPlace;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Cases whose rate is compared with the limit's. An untimed round first; then, run by run and case
 * by case, ours and the limit by turns.
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

  static void measure(Bench bench, List<Case> cases, List<Part> parts) throws Exception {
    Map<Case, JdbcPlace> pools = new LinkedHashMap<>();
    try {
      for (Case one : cases) {
        pools.put(one, bench.database.open(one.connections()));
      }
      for (int run = 0; run <= bench.runs; run++) {
        for (Map.Entry<Case, JdbcPlace> each : pools.entrySet()) {
          Case one = each.getKey();
          bench.say(one.name(), run);
          List<Part> reported = run > 0 ? parts : List.of();
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
}
