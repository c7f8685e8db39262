package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Cost.ServerWork;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cases whose rate is compared with the limit's. An untimed round first; then, run by run and case
 * by case, ours and the limit by turns; at the end once more with everything counted and nothing
 * timed.
 */
final class Throughput {
  /** A part of the messages whose rate becomes a line of its own; without a name, the main one. */
  record Part(String name, int from, int to) {
    static final Part WHOLE = new Part("", 0, Pace.TENTHS);
  }

  /** One side of a case: made ready, which is not timed; then measured. */
  interface Round {
    void prepare() throws Exception;

    Pace run(List<Access> accesses) throws Exception;

    /** Whose tables it writes when it is this side of a case. */
    default Side tables(Side side) {
      return side;
    }

    /** Whether the messages were inserted when it was made ready. */
    default boolean isFilled() {
      return true;
    }
  }

  /**
   * What is compared.
   *
   * @param pools each with so many connections
   * @param rounds that make up one run
   */
  record Case(
      String name,
      BenchDatabase database,
      int pools,
      int connections,
      int rounds,
      Round ours,
      Round limit) {}

  /** How fast it was, and what it took: nanoseconds for all messages. */
  private record Run(Pace pace, CpuClock.Time cpu) {}

  private final Bench bench;
  private final String scenario;
  private final List<Part> parts;
  private final List<Case> cases = new ArrayList<>();
  private final List<List<Run>> ours = new ArrayList<>();
  private final List<List<Run>> limit = new ArrayList<>();

  Throughput(Bench bench, String scenario, Part... parts) {
    this.bench = bench;
    this.scenario = scenario;
    this.parts = List.of(parts);
  }

  /** Adds a case; returns its number. */
  int add(Case one) {
    cases.add(one);
    ours.add(new ArrayList<>());
    limit.add(new ArrayList<>());
    return cases.size() - 1;
  }

  /** Measures all cases and reports them. */
  void measure() throws Exception {
    List<List<Access>> pools = new ArrayList<>();
    try {
      for (Case one : cases) {
        pools.add(open(one, null));
      }
      for (int i = 0; i < cases.size(); i++) {
        say(i, "warm-up");
        timed(cases.get(i), cases.get(i).ours(), 1, pools.get(i));
        timed(cases.get(i), cases.get(i).limit(), 1, pools.get(i));
      }
      for (int run = 1; run <= bench.runs(); run++) {
        for (int i = 0; i < cases.size(); i++) {
          Case one = cases.get(i);
          say(i, "run %d of %d".formatted(run, bench.runs()));
          ours.get(i).add(timed(one, one.ours(), one.rounds(), pools.get(i)));
          limit.get(i).add(timed(one, one.limit(), one.rounds(), pools.get(i)));
        }
      }
    } finally {
      pools.forEach(all -> all.forEach(Access::close));
    }
    for (int i = 0; i < cases.size(); i++) {
      say(i, "counting");
      report(i, counted(cases.get(i), Side.OURS), counted(cases.get(i), Side.LIMIT));
    }
  }

  /** Reports a case of ours beside another case of ours. */
  void compare(int number, int other, String name) {
    for (Part part : parts) {
      if (part.name().isEmpty()) {
        Samples rates = rates(ours.get(number), part);
        Samples others = rates(ours.get(other), part);
        bench.report(Line.beside(scenario, name, "messages/s", rates, others));
      }
    }
  }

  private void say(int number, String what) {
    bench.progress("%s, %s: %s".formatted(scenario, cases.get(number).name(), what));
  }

  private static List<Access> open(Case one, @Nullable WorkCounter counter) {
    List<Access> all = new ArrayList<>();
    for (int i = 0; i < one.pools(); i++) {
      all.add(one.database().open(one.connections(), counter));
    }
    return all;
  }

  private Run timed(Case one, Round round, int rounds, List<Access> accesses) throws Exception {
    List<Pace> paces = new ArrayList<>();
    CpuClock.Time cpu = new CpuClock.Time(0, 0);
    for (int i = 0; i < rounds; i++) {
      round.prepare();
      bench.settle();
      CpuClock.Time before = bench.cpu().now();
      paces.add(round.run(accesses));
      cpu = cpu.plus(bench.cpu().now().since(before));
    }
    return new Run(Pace.sum(paces), cpu);
  }

  /**
   * Where each message was inserted before the measured part, one row write more, so that the
   * column shows the whole life of a message.
   */
  static Cost counted(Case one, Side side) throws Exception {
    Round round = side == Side.OURS ? one.ours() : one.limit();
    round.prepare();
    WorkCounter counter = new WorkCounter();
    Side tables = round.tables(side);
    ServerWork before = one.database().written(tables);
    List<Access> accesses = open(one, counter);
    Pace pace;
    try {
      pace = round.run(accesses);
    } finally {
      accesses.forEach(Access::close);
    }
    ServerWork work = one.database().written(tables).since(before);
    ServerWork life =
        new ServerWork(
            work.messageRows() < 0 || !round.isFilled()
                ? work.messageRows()
                : work.messageRows() + pace.total(),
            work.bucketRows(),
            work.blockedKeyRows(),
            work.logBytes());
    return new Cost(pace.total(), counter.counted(), life);
  }

  private void report(int number, Cost cost, Cost limitCost) {
    String name = cases.get(number).name();
    for (Part part : parts) {
      boolean main = part.name().isEmpty();
      bench.report(
          new Line(
              scenario,
              main ? name : name + ", " + part.name(),
              "messages/s",
              rates(ours.get(number), part),
              rates(limit.get(number), part),
              main ? cost : null,
              main ? limitCost : null,
              main ? cpu(ours.get(number)) : null,
              main ? cpu(limit.get(number)) : null));
    }
  }

  private static Samples rates(List<Run> runs, Part part) {
    return new Samples(runs.stream().map(run -> run.pace().rate(part.from(), part.to())).toList());
  }

  private static Cpu cpu(List<Run> runs) {
    return new Cpu(runs.stream().map(run -> run.cpu().perMessage(run.pace().total())).toList());
  }
}
