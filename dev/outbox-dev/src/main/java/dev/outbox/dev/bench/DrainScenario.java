package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;

/** The rate at which a backlog goes away, by number of keys and workers. */
final class DrainScenario extends Scenario {
  static final int MESSAGES = 200_000;
  static final int MANY_KEYS = 10_000;

  private static final int UNORDERED = 0;
  private static final int[] KEYS = {MANY_KEYS, 10, 1, UNORDERED};
  private static final int[] WORKERS = {1, 2, 4};

  DrainScenario() {
    super(
        "drain",
        """
        200,000 messages of 200 bytes drained by one relay whose publisher takes everything at once. \
        Limit: select and delete in a loop, without order, with as many workers.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    Throughput throughput = new Throughput(bench, this, Part.WHOLE);
    for (int keys : KEYS) {
      for (int workers : WORKERS) {
        Load load = new Load(bench.scaled(MESSAGES), keys);
        throughput.add(
            new Case(
                keys(keys) + ", " + count(workers, "worker"),
                BenchDatabase.connections(workers),
                Fill.ours(bench.database(), load, workers),
                Fill.limit(bench.database(), load, workers)));
      }
    }
    throughput.measure();
  }

  static String keys(int keys) {
    return keys == UNORDERED ? "unordered" : count(keys, "key");
  }

  static String count(int count, String what) {
    return "%,d %s%s".formatted(count, what, count == 1 ? "" : "s");
  }
}
