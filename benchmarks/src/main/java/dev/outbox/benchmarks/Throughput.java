package dev.outbox.benchmarks;

import dev.outbox.benchmarks.BenchDatabase.Access;
import dev.outbox.benchmarks.BenchDatabase.Side;
import dev.outbox.benchmarks.Cost.ServerWork;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cases whose rate is compared with the limit's. An untimed round of all of them first; then, run
 * by run and case by case, ours and the limit by turns; at the end once more with everything
 * counted and nothing timed.
 */
final class Throughput {
  /** What of a pace becomes a line. */
  record Part(String name, int from, int to) {
    static final Part WHOLE = new Part("", 0, Pace.TENTHS);
  }

  /** One side of a case: made ready, not timed; then measured. */
  interface Round {
    void prepare() throws Exception;

    Pace run(List<Access> accesses) throws Exception;
  }

  /**
   * @param pools each with so many connections
   */
  record Case(String name, int pools, int connections, Round ours, Round limit) {}

  private final Bench bench;
  private final String scenario;
  private final List<Part> parts;

  Throughput(Bench bench, String scenario, List<Part> parts) {
    this.bench = bench;
    this.scenario = scenario;
    this.parts = parts;
  }

  void measure(List<Case> cases) throws Exception {
    List<Paces> measured = new ArrayList<>();
    List<List<Access>> pools = new ArrayList<>();
    try {
      for (Case one : cases) {
        pools.add(open(one, null));
        measured.add(new Paces());
      }
      for (int run = 0; run <= bench.runs(); run++) {
        for (int i = 0; i < cases.size(); i++) {
          Case one = cases.get(i);
          String which = run == 0 ? "warm-up" : "run %d of %d".formatted(run, bench.runs());
          bench.progress("%s, %s: %s".formatted(scenario, one.name(), which));
          Pace ours = timed(one.ours(), pools.get(i));
          Pace limit = timed(one.limit(), pools.get(i));
          if (run > 0) {
            measured.get(i).ours.add(ours);
            measured.get(i).limit.add(limit);
          }
        }
      }
    } finally {
      pools.forEach(all -> all.forEach(Access::close));
    }
    for (int i = 0; i < cases.size(); i++) {
      Case one = cases.get(i);
      bench.progress("%s, %s: counting".formatted(scenario, one.name()));
      report(one, measured.get(i), counted(one, Side.OURS), counted(one, Side.LIMIT));
    }
  }

  private List<Access> open(Case one, @Nullable StatementCounter counter) {
    List<Access> all = new ArrayList<>();
    for (int i = 0; i < one.pools(); i++) {
      all.add(bench.database().open(one.connections(), counter));
    }
    return all;
  }

  private Pace timed(Round round, List<Access> accesses) throws Exception {
    round.prepare();
    bench.settle();
    return round.run(accesses);
  }

  /**
   * Each message was inserted before the measured part: one row write more, so that the column
   * shows the whole life of a message.
   */
  private Cost counted(Case one, Side side) throws Exception {
    Round round = side == Side.OURS ? one.ours() : one.limit();
    round.prepare();
    StatementCounter counter = new StatementCounter();
    ServerWork before = bench.database().written(side);
    List<Access> accesses = open(one, counter);
    Pace pace;
    try {
      pace = round.run(accesses);
    } finally {
      accesses.forEach(Access::close);
    }
    ServerWork work = bench.database().written(side).since(before);
    ServerWork life =
        new ServerWork(
            work.messageRows() < 0 ? -1 : work.messageRows() + pace.messages(),
            work.bucketRows(),
            work.blockedKeyRows(),
            work.logBytes());
    return new Cost(pace.messages(), counter.counted(), life);
  }

  private void report(Case one, Paces paces, Cost cost, Cost limitCost) {
    for (Part part : parts) {
      boolean whole = part.equals(Part.WHOLE);
      bench.report(
          new Line(
              scenario,
              whole ? one.name() : one.name() + ", " + part.name(),
              "messages/s",
              rates(paces.ours, part),
              rates(paces.limit, part),
              whole ? cost : null,
              whole ? limitCost : null));
    }
  }

  private static Samples rates(List<Pace> paces, Part part) {
    return new Samples(paces.stream().map(pace -> pace.rate(part.from(), part.to())).toList());
  }

  private static final class Paces {
    final List<Pace> ours = new ArrayList<>();
    final List<Pace> limit = new ArrayList<>();
  }
}
