package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** The rate at which a backlog goes away: scenarios, and rounds that fill tables and drain them. */
final class Draining {
  private static final int MESSAGES = 200_000;
  private static final int MANY_KEYS = 10_000;

  private static final int UNORDERED = 0;
  private static final int[] KEYS = {MANY_KEYS, 10, 1, UNORDERED};
  private static final int[] WORKERS = {1, 4};

  private static final int PINNED_MESSAGES = 500_000;
  private static final int BLOCKED = 100_000;

  private static final List<Part> PARTS =
      List.of(Part.WHOLE, new Part(", first fifth", 0, 2), new Part(", last fifth", 8, 10));

  /** Takes nothing. */
  private static final MessagePublisher FAILING =
      messages -> Collections.nCopies(messages.size(), Result.failed("this key always fails"));

  private static final RetryPolicy SOON =
      RetryPolicy.builder()
          .firstDelay(Duration.ofMillis(10))
          .maxDelay(Duration.ofMillis(10))
          .maxAttempts(Integer.MAX_VALUE)
          .build();

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofMillis(200);

  private Draining() {}

  static void drain(Bench bench) throws Exception {
    Throughput.measure(bench, drains(bench), List.of(Part.WHOLE));
  }

  /** Each number of keys by each number of workers. */
  static List<Case> drains(Bench bench) {
    List<Case> cases = new ArrayList<>();
    for (int keys : KEYS) {
      for (int workers : WORKERS) {
        Backlog load = new Backlog(bench.scaled(MESSAGES), keys);
        cases.add(
            by(
                workers,
                keys == UNORDERED ? "unordered" : count(keys, "key"),
                ours(bench.database, load, workers),
                limit(bench.database, load, workers)));
      }
    }
    return cases;
  }

  private static Case by(int workers, String name, Round ours, Round limit) {
    int connections = BenchDatabase.connections(workers);
    return new Case(name + ", " + count(workers, "worker"), connections, ours, limit);
  }

  static String count(int count, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", count, what, count == 1 ? "" : "s");
  }

  static String perSecond(int rate) {
    return String.format(Locale.ROOT, "%,d/s", rate);
  }

  static void archive(Bench bench) throws Exception {
    List<Case> cases = new ArrayList<>();
    Backlog load = new Backlog(bench.scaled(MESSAGES), MANY_KEYS);
    for (Archive archive : List.of(Archive.METADATA, Archive.FULL)) {
      for (int workers : WORKERS) {
        cases.add(
            by(
                workers,
                archive.name().toLowerCase(Locale.ROOT),
                byRelay(bench.database, load, workers, archive, Drain.ANSWERING),
                byRelay(bench.database, load, workers, Archive.NONE, Drain.ANSWERING)));
      }
    }
    Throughput.measure(bench, cases, List.of(Part.WHOLE));
  }

  static void pinned(Bench bench) throws Exception {
    BenchDatabase database = bench.database;
    List<Case> cases = new ArrayList<>();
    Backlog load = new Backlog(bench.scaled(PINNED_MESSAGES), MANY_KEYS);
    cases.add(
        by(
            1,
            "read-only snapshot",
            pinned(database, ours(database, load, 1)),
            pinned(database, limit(database, load, 1))));
    Backlog blocked = new Backlog(bench.scaled(BLOCKED), 1);
    cases.add(
        by(
            1,
            "read-only snapshot, 1 blocked key",
            pinned(database, blockedKey(database, blocked)),
            pinned(database, limit(database, blocked, 1))));
    Throughput.measure(bench, cases, PARTS);
  }

  /** Holds a snapshot from before another round is made ready until it is over. */
  private static Round pinned(BenchDatabase database, Round round) {
    Deque<AutoCloseable> held = new ArrayDeque<>();
    return new Round(
        () -> {
          held.push(database.snapshot());
          try {
            round.prepare().run();
          } catch (Exception e) {
            held.pop().close();
            throw e;
          }
        },
        place -> {
          try (AutoCloseable ignored = held.pop()) {
            return round.run().of(place);
          }
        });
  }

  /** A key whose messages are all blocked, and whose head gets through now. */
  private static Round blockedKey(BenchDatabase database, Backlog load) {
    return new Round(
        () -> block(database, load),
        // The head has failed more often than the default policy allows.
        place ->
            Drain.relay(
                place.store(),
                load.messages(),
                Drain.NO_OP,
                relay -> relay.workers(1).retryPolicy(SOON)));
  }

  /** Runs a relay until no message is left that was not found out to be blocked. */
  private static void block(BenchDatabase database, Backlog load) throws InterruptedException {
    refill(database, Side.OURS, load);
    try (JdbcPlace place = database.open(BenchDatabase.connections(1));
        Relay relay = Relay.builder(place.store(), FAILING).workers(1).retryPolicy(SOON).build()) {
      long end = System.nanoTime() + PATIENCE.toNanos();
      relay.start();
      while (place.store().statistics(1).pending() > 0) {
        if (System.nanoTime() - end > 0) {
          throw new IllegalStateException("messages are still not blocked after " + PATIENCE);
        }
        Thread.sleep(LOOK.toMillis());
      }
    }
  }

  private static Round ours(BenchDatabase database, Backlog load, int workers) {
    return byRelay(database, load, workers, Archive.NONE, Drain.NO_OP);
  }

  private static Round byRelay(
      BenchDatabase database,
      Backlog load,
      int workers,
      Archive archive,
      MessagePublisher publisher) {
    return new Round(
        () -> refill(database, Side.OURS, load),
        place ->
            Drain.relay(
                place.store(archive), load.messages(), publisher, relay -> relay.workers(workers)));
  }

  private static Round limit(BenchDatabase database, Backlog load, int workers) {
    return new Round(
        () -> refill(database, Side.LIMIT, load),
        place -> Drain.limit(place, workers, load.messages()));
  }

  /**
   * The checkpoint comes before the fill: the pages are then in the log already, as those of
   * messages that live for seconds are.
   */
  private static void refill(BenchDatabase database, Side side, Backlog load) {
    database.empty(side);
    database.checkpoint();
    database.fill(side, load);
    database.tidy(side);
  }
}
