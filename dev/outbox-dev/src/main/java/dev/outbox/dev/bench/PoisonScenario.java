package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.State;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import java.time.Duration;
import java.util.List;

/** Whether healthy keys suffer from what cannot be delivered. */
final class PoisonScenario implements Scenario {
  private static final int FAILING_KEYS = 1_000;

  /** With the heads. */
  private static final int BEHIND = 101_000;

  private static final int DELAYED = 1_000_000;
  private static final int DEAD = 100_000;
  private static final int PAYLOAD = 200;
  private static final String PREFIX = "failing-";

  /** As the default policy waits after some six failures: 200 attempts a second at 1,000 keys. */
  private static final Duration RETRY = Duration.ofSeconds(5);

  private static final int[] WORKERS = {1, 4};

  @Override
  public String name() {
    return "poison";
  }

  @Override
  public String what() {
    return """
        200,000 messages of 10,000 healthy keys, beside 1,000 keys whose heads fail every 5 s, 100,000 messages behind those, \
        1 million delayed ones and 100,000 dead letters; all failing keys are due when a run begins. \
        Limit: its loop on the healthy messages alone.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    BenchDatabase clean = bench.database();
    try (BenchDatabase poisoned = clean.sibling()) {
      poison(bench, poisoned);
      Load load = Load.of(bench.scaled(DrainScenario.MESSAGES), DrainScenario.MANY_KEYS);
      Throughput throughput = new Throughput(bench, name(), Part.WHOLE);
      for (int workers : WORKERS) {
        String with = ", " + DrainScenario.count(workers, "worker");
        Round limit = Fills.limit(clean, load, workers);
        throughput.add(
            new Case(
                "healthy keys alone" + with,
                clean,
                1,
                workers + 1,
                1,
                new Healthy(clean, load, workers),
                limit));
        throughput.add(
            new Case(
                "healthy keys among failing ones" + with,
                poisoned,
                1,
                workers + 1,
                1,
                new Healthy(poisoned, load, workers),
                Fills.limit(poisoned, load, workers)));
      }
      throughput.measure();
      for (int i = 0; i < WORKERS.length; i++) {
        throughput.compare(
            2 * i + 1,
            2 * i,
            "healthy keys among failing ones, %s, beside our own alone"
                .formatted(DrainScenario.count(WORKERS[i], "worker")));
      }
      clean.empty(Side.OURS);
    }
  }

  private static void poison(Bench bench, BenchDatabase database) throws InterruptedException {
    bench.progress("poison: filling");
    int keys = bench.scaled(FAILING_KEYS);
    fill(database, bench.scaled(BEHIND), keys, PREFIX, State.DUE);
    fill(database, bench.scaled(DELAYED), DrainScenario.MANY_KEYS, "later-", State.DELAYED);
    fill(database, bench.scaled(DEAD), DrainScenario.MANY_KEYS, "dead-", State.DEAD);
    database.tidy(Side.OURS);
    bench.progress("poison: letting the heads fail");
    try (Access access = database.open(2)) {
      Blocking.untilAllAreBlocked(access, PREFIX);
    }
  }

  private static void fill(
      BenchDatabase database, int messages, int keys, String prefix, State state) {
    database.fill(Side.OURS, new Load(messages, keys, PAYLOAD, prefix, state));
  }

  /** Adds healthy messages to what is there, and drains those. */
  private record Healthy(BenchDatabase database, Load load, int workers) implements Round {
    @Override
    public void prepare() {
      database.checkpoint();
      database.fill(Side.OURS, load);
      database.tidy(Side.OURS);
    }

    @Override
    public Pace run(List<Access> accesses) throws InterruptedException {
      return Drain.relays(
          accesses,
          load.messages(),
          Blocking.failing(PREFIX),
          relay -> relay.workers(workers).retryPolicy(Blocking.every(RETRY)));
    }
  }
}
