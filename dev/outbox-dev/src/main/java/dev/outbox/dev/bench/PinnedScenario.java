package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a transaction of somebody else costs that stays open, so that vacuum can remove nothing. */
final class PinnedScenario implements Scenario {
  private static final int MESSAGES = 500_000;
  private static final int BLOCKED = 100_000;
  private static final int[] WORKERS = {1, 4};

  private static final Part[] PARTS = {
    Part.WHOLE,
    new Part("1st fifth", 0, 2),
    new Part("2nd fifth", 2, 4),
    new Part("3rd fifth", 4, 6),
    new Part("4th fifth", 6, 8),
    new Part("5th fifth", 8, 10),
  };

  @Override
  public String name() {
    return "pinned";
  }

  @Override
  public String what() {
    return """
        500,000 messages of 10,000 keys drained while another session holds a transaction open, from before the fill to the end: \
        a read-only snapshot, or one that has written. And one key with 100,000 messages that were blocked \
        behind its head until the broker took it. Limit: its loop on as many messages under the same pin.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    BenchDatabase database = bench.database();
    Throughput throughput = new Throughput(bench, name(), PARTS);
    for (Pin pin : List.of(Pin.SNAPSHOT, Pin.WRITER)) {
      String what = pin == Pin.SNAPSHOT ? "read-only snapshot" : "transaction that has written";
      for (int workers : WORKERS) {
        Load load = Load.of(bench.scaled(MESSAGES), DrainScenario.MANY_KEYS);
        throughput.add(
            new Case(
                what + ", " + DrainScenario.count(workers, "worker"),
                database,
                1,
                workers + 1,
                1,
                new Pinned(database, pin, Fills.ours(database, load, workers)),
                new Pinned(database, pin, Fills.limit(database, load, workers))));
      }
      Load blocked = Load.of(bench.scaled(BLOCKED), 1);
      throughput.add(
          new Case(
              what + ", 1 blocked key, 1 worker",
              database,
              1,
              2,
              1,
              new Pinned(database, pin, new BlockedKey(database, blocked)),
              new Pinned(database, pin, Fills.limit(database, blocked, 1))));
    }
    throughput.measure();
  }

  /** Holds the pin from before another round is made ready until it is over. */
  private static final class Pinned implements Round {
    private final BenchDatabase database;
    private final Pin pin;
    private final Round round;
    private @Nullable AutoCloseable held;

    Pinned(BenchDatabase database, Pin pin, Round round) {
      this.database = database;
      this.pin = pin;
      this.round = round;
    }

    @Override
    public void prepare() throws Exception {
      held = database.pin(pin);
      round.prepare();
    }

    @Override
    public Pace run(List<Access> accesses) throws Exception {
      try (AutoCloseable ignored = held) {
        return round.run(accesses);
      }
    }
  }

  /** A key whose messages are all blocked, and whose head gets through now. */
  private record BlockedKey(BenchDatabase database, Load load) implements Round {
    @Override
    public void prepare() throws InterruptedException {
      Fills.refill(database, Side.OURS, load);
      try (Access access = database.open(2)) {
        Blocking.untilAllAreBlocked(access, load.prefix());
      }
    }

    @Override
    public Pace run(List<Access> accesses) throws InterruptedException {
      // The head has failed more often than the default policy allows.
      return Drain.relays(
          accesses,
          load.messages(),
          Drain.NO_OP,
          relay -> relay.workers(1).retryPolicy(Blocking.every(Blocking.SOON)));
    }
  }
}
