package dev.outbox.benchmarks;

import dev.outbox.benchmarks.BenchDatabase.Access;
import dev.outbox.benchmarks.BenchDatabase.Load;
import dev.outbox.benchmarks.BenchDatabase.Side;
import dev.outbox.benchmarks.Throughput.Case;
import dev.outbox.benchmarks.Throughput.Part;
import java.util.ArrayList;
import java.util.List;

/** The rate at which a backlog goes away, by number of keys and workers. */
final class DrainScenario implements Scenario {
  private static final int MESSAGES = 200_000;
  private static final int[] KEYS = {10_000, 10, 1, 0};
  private static final int[] WORKERS = {1, 2, 4};

  @Override
  public String name() {
    return "drain";
  }

  @Override
  public String what() {
    return """
        200,000 messages of 200 bytes drained by one relay whose publisher takes everything at once. \
        Limit: select and delete in a loop, without order, with as many workers.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    List<Case> cases = new ArrayList<>();
    for (int keys : KEYS) {
      for (int workers : WORKERS) {
        Load load = Load.of(bench.scaled(MESSAGES), keys);
        String name = "%s, %s".formatted(keys(keys), count(workers, "worker"));
        cases.add(
            new Case(
                name, 1, workers + 1, ours(bench, load, workers), limit(bench, load, workers)));
      }
    }
    new Throughput(bench, name(), List.of(Part.WHOLE)).measure(cases);
  }

  static String keys(int keys) {
    return keys == 0 ? "unordered" : count(keys, "key");
  }

  static String count(int count, String what) {
    return "%,d %s%s".formatted(count, what, count == 1 ? "" : "s");
  }

  /** Fills, and drains all of it by relays with so many workers each. */
  static Throughput.Round ours(Bench bench, Load load, int workers) {
    return new Throughput.Round() {
      @Override
      public void prepare() {
        refill(bench, Side.OURS, load);
      }

      @Override
      public Pace run(List<Access> accesses) throws InterruptedException {
        return Drain.relays(accesses, workers, load.messages());
      }
    };
  }

  /** The same by the limit's loop. */
  static Throughput.Round limit(Bench bench, Load load, int workers) {
    return new Throughput.Round() {
      @Override
      public void prepare() {
        refill(bench, Side.LIMIT, load);
      }

      @Override
      public Pace run(List<Access> accesses) throws InterruptedException {
        return Drain.limit(accesses, workers, load.messages());
      }
    };
  }

  /**
   * The checkpoint comes before the fill: the pages are then in the log already, as those of
   * messages that live for seconds are.
   */
  static void refill(Bench bench, Side side, Load load) {
    bench.database().empty(side);
    bench.database().checkpoint();
    bench.database().fill(side, load);
    bench.database().tidy(side);
  }
}
