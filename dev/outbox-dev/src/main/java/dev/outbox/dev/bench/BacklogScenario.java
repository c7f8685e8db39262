package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import java.util.ArrayList;
import java.util.List;

/** Whether the rate depends on how much waits. */
final class BacklogScenario implements Scenario {
  private static final int[] WAITING = {10_000, 1_000_000, 5_000_000};

  /** Half of the smallest backlog, so that it never runs dry while it is measured. */
  private static final int ROUND = 5_000;

  private static final int ROUNDS = 20;
  private static final Part AFTER_THE_START = new Part("", 1, Pace.TENTHS);

  @Override
  public String name() {
    return "backlog";
  }

  @Override
  public String what() {
    return """
        One worker, 10,000 keys. A run is 20 rounds: fill up to what waits, drain 5,000 messages; \
        timed from the first batch on, so that the start of a relay does not count. \
        What waits was written to disk before (checkpoint), \
        so that a large backlog's pages go to the log as a whole when they are first changed, on both sides. \
        Limit: its loop on as large a backlog.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    List<BenchDatabase> databases = new ArrayList<>();
    try {
      Throughput throughput = new Throughput(bench, name(), AFTER_THE_START);
      for (int full : WAITING) {
        BenchDatabase database = bench.database().sibling();
        databases.add(database);
        int waiting = bench.scaled(full, WAITING[0]);
        throughput.add(
            new Case(
                "%,d waiting".formatted(waiting),
                database,
                1,
                2,
                bench.scaled(ROUNDS, 2),
                new Backlog(bench, database, Side.OURS, waiting),
                new Backlog(bench, database, Side.LIMIT, waiting)));
      }
      throughput.measure();
      for (int i = 1; i < WAITING.length; i++) {
        int waiting = bench.scaled(WAITING[i], WAITING[0]);
        throughput.compare(i, 0, "%,d waiting, beside our own with 10,000".formatted(waiting));
      }
    } finally {
      databases.forEach(BenchDatabase::close);
    }
  }

  /** A backlog that is filled up to the same size before each round. */
  private static final class Backlog implements Round {
    private final Bench bench;
    private final BenchDatabase database;
    private final Side side;
    private final int waiting;
    private long left;

    Backlog(Bench bench, BenchDatabase database, Side side, int waiting) {
      this.bench = bench;
      this.database = database;
      this.side = side;
      this.waiting = waiting;
    }

    @Override
    public void prepare() {
      boolean first = left == 0;
      if (first) {
        bench.progress("backlog: filling %,d".formatted(waiting));
      }
      database.fill(side, Load.of(waiting - left, DrainScenario.MANY_KEYS));
      left = waiting;
      if (first) {
        database.tidy(side);
        database.checkpoint();
      }
    }

    @Override
    public Pace run(List<Access> accesses) throws InterruptedException {
      Pace pace =
          side == Side.OURS ? Drain.relays(accesses, 1, ROUND) : Drain.limit(accesses, 1, ROUND);
      left -= pace.total();
      return pace;
    }
  }
}
