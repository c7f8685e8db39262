package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StatisticsStore;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a transaction of somebody else costs that stays open, so that vacuum can remove nothing. */
final class PinnedScenario extends Scenario {
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

  PinnedScenario() {
    super(
        "pinned",
        """
        500,000 messages of 10,000 keys drained while another session holds a transaction open, from before the fill to the end: \
        a read-only snapshot, or one that has written. And one key with 100,000 messages that were blocked \
        behind its head until the broker took it. Limit: its loop on as many messages under the same pin.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    BenchDatabase<?> database = bench.database();
    Throughput throughput = new Throughput(bench, this, PARTS);
    for (Pin pin : List.of(Pin.SNAPSHOT, Pin.WRITER)) {
      String what = pin == Pin.SNAPSHOT ? "read-only snapshot" : "transaction that has written";
      for (int workers : WORKERS) {
        Load load = new Load(bench.scaled(MESSAGES), DrainScenario.MANY_KEYS);
        throughput.add(
            new Case(
                what + ", " + DrainScenario.count(workers, "worker"),
                BenchDatabase.connections(workers),
                new Pinned(database, pin, Fill.ours(database, load, workers)),
                new Pinned(database, pin, Fill.limit(database, load, workers))));
      }
      Load blocked = new Load(bench.scaled(BLOCKED), 1);
      throughput.add(
          new Case(
              what + ", 1 blocked key, 1 worker",
              2,
              new Pinned(database, pin, new BlockedKey(database, blocked)),
              new Pinned(database, pin, Fill.limit(database, blocked, 1))));
    }
    throughput.measure();
  }

  /** Holds the pin from before another round is made ready until it is over. */
  private static final class Pinned implements Round {
    private final BenchDatabase<?> database;
    private final Pin pin;
    private final Round round;
    private @Nullable AutoCloseable held;

    Pinned(BenchDatabase<?> database, Pin pin, Round round) {
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
    public Pace run(Access<?> access) throws Exception {
      try (AutoCloseable ignored = held) {
        return round.run(access);
      }
    }
  }

  /** A key whose messages are all blocked, and whose head gets through now. */
  private record BlockedKey(BenchDatabase<?> database, Load load) implements Round {
    /** Takes nothing. */
    private static final MessagePublisher FAILING =
        messages -> Collections.nCopies(messages.size(), Result.failed("this key always fails"));

    private static final RetryPolicy SOON =
        RetryPolicy.builder()
            .firstDelay(Duration.ofMillis(10))
            .maxDelay(Duration.ofMillis(10))
            .jitter(0)
            .maxAttempts(Integer.MAX_VALUE)
            .build();

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(200);

    /** Runs a relay until no message is left that was not found out to be blocked. */
    @Override
    public void prepare() throws InterruptedException {
      Fill.ours(database, load, 1).prepare();
      try (Access<?> access = database.open(2);
          Relay relay =
              Relay.builder(access.store(), FAILING).workers(1).retryPolicy(SOON).build()) {
        StatisticsStore store = (StatisticsStore) access.store();
        long end = System.nanoTime() + PATIENCE.toNanos();
        relay.start();
        while (store.statistics(1).pending() > 0) {
          if (System.nanoTime() - end > 0) {
            throw new IllegalStateException("messages are still not blocked after " + PATIENCE);
          }
          Thread.sleep(LOOK.toMillis());
        }
      }
    }

    @Override
    public Pace run(Access<?> access) throws InterruptedException {
      // The head has failed more often than the default policy allows.
      return Drain.relay(
          access.store(),
          load.messages(),
          Drain.NO_OP,
          relay -> relay.workers(1).retryPolicy(SOON));
    }
  }
}
