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

    Pace run(Access<?> access) throws Exception;

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
   * @param connections of the pool
   */
  record Case(String name, int connections, Round ours, Round limit) {}

  /** How fast it was, and what it took: nanoseconds for all messages. */
  private record Run(Pace pace, CpuClock.Time cpu) {}

  private final Bench bench;
  private final Scenario scenario;
  private final List<Part> parts;
  private final List<Case> cases = new ArrayList<>();
  private final List<List<Run>> ours = new ArrayList<>();
  private final List<List<Run>> limit = new ArrayList<>();

  Throughput(Bench bench, Scenario scenario, Part... parts) {
    this.bench = bench;
    this.scenario = scenario;
    this.parts = List.of(parts);
  }

  void add(Case one) {
    cases.add(one);
    ours.add(new ArrayList<>());
    limit.add(new ArrayList<>());
  }

  /** Measures all cases and reports them. */
  void measure() throws Exception {
    List<Access<?>> pools = new ArrayList<>();
    try {
      for (Case one : cases) {
        pools.add(bench.database().open(one.connections()));
      }
      for (int i = 0; i < cases.size(); i++) {
        say(i, "warm-up");
        timed(cases.get(i).ours(), pools.get(i));
        timed(cases.get(i).limit(), pools.get(i));
      }
      for (int run = 1; run <= bench.runs(); run++) {
        for (int i = 0; i < cases.size(); i++) {
          say(i, "run %d of %d".formatted(run, bench.runs()));
          ours.get(i).add(timed(cases.get(i).ours(), pools.get(i)));
          limit.get(i).add(timed(cases.get(i).limit(), pools.get(i)));
        }
      }
    } finally {
      pools.forEach(Access::close);
    }
    for (int i = 0; i < cases.size(); i++) {
      say(i, "counting");
      report(i, counted(bench, cases.get(i), Side.OURS), counted(bench, cases.get(i), Side.LIMIT));
    }
  }

  private void say(int number, String what) {
    scenario.say(bench, cases.get(number).name(), what);
  }

  private Run timed(Round round, Access<?> access) throws Exception {
    round.prepare();
    bench.settle();
    CpuClock.Time before = bench.cpu().now();
    Pace pace = round.run(access);
    return new Run(pace, bench.cpu().now().since(before));
  }

  /**
   * Where each message was inserted before the measured part, one row write more, so that the
   * column shows the whole life of a message.
   */
  static Cost counted(Bench bench, Case one, Side side) throws Exception {
    BenchDatabase<?> database = bench.database();
    Round round = side == Side.OURS ? one.ours() : one.limit();
    round.prepare();
    WorkCounter counter = new WorkCounter();
    Side tables = round.tables(side);
    ServerWork before = database.written(tables);
    Pace pace;
    try (Access<?> access = database.open(one.connections(), counter)) {
      pace = round.run(access);
    }
    ServerWork work = database.written(tables).since(before);
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
      scenario.report(
          bench,
          main ? name : name + ", " + part.name(),
          "messages/s",
          figure(ours.get(number), part, main ? cost : null),
          figure(limit.get(number), part, main ? limitCost : null));
    }
  }

  /** Only the main one has a cost. */
  private static Figure figure(List<Run> runs, Part part, @Nullable Cost cost) {
    return new Figure(
        runs.stream().map(run -> run.pace().rate(part.from(), part.to())).toList(),
        cost,
        cost == null
            ? List.of()
            : runs.stream().map(run -> run.cpu().perMessage(run.pace().total())).toList());
  }
}
