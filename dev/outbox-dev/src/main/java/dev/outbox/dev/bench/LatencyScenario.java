package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchClient.Woken;
import dev.outbox.dev.bench.Fleet.Outcome;
import dev.outbox.dev.bench.Fleet.Shape;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.spi.store.KeepingStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

/** How long messages take to the publisher, by the ways in which a relay hears of them. */
final class LatencyScenario {
  private static final int[] RATES = {200, 2_000};
  private static final int KEYS = 10_000;
  private static final int CLIENTS = 4;
  private static final List<Shape> SAME_PROCESS = List.of(new Shape(1, CLIENTS));
  private static final List<Shape> ANOTHER = List.of(new Shape(0, CLIENTS), new Shape(1, 0));
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);

  private static final int HELD_RATE = 2_000;
  private static final int HELD_PARTS = 5;
  private static final Duration HELD_TIME = Duration.ofMinutes(10);

  private LatencyScenario() {}

  static void run(Bench bench) throws Exception {
    for (Woken woken : Woken.values()) {
      if (woken != Woken.HANDED_OVER || handsOver(bench)) {
        run(bench, woken);
      }
    }
  }

  private static boolean handsOver(Bench bench) {
    try (JdbcPlace place = bench.database.open(1)) {
      return place.store() instanceof KeepingStore<?> able && able.handsOver();
    }
  }

  private static void run(Bench bench, Woken woken) throws Exception {
    List<Shape> pods = woken == Woken.NOT ? ANOTHER : SAME_PROCESS;
    try (KafkaBroker topic = bench.topic();
        Fleet fleet = new Fleet(bench, pods, KEYS, woken, topic)) {
      for (int rate : RATES) {
        String name = Draining.perSecond(rate) + ", " + woken.label;
        for (int run = 0; run <= bench.runs; run++) {
          bench.say(name, run);
          Outcome done = fleet.run(rate, bench.scaled(run == 0 ? WARM_UP : TIME));
          if (run > 0) {
            Outcome.report(bench, name + ", commit to publisher", done.called());
            Outcome.report(bench, name + ", commit to acknowledgement", done.acknowledged());
            done.reportCost(bench, name);
          }
        }
      }
    }
  }

  /** What becomes of latency while somebody holds a transaction open. */
  static void held(Bench bench) throws Exception {
    held(bench, "nothing", () -> () -> {});
    held(bench, "one that has appended", bench.database::appender);
  }

  private static void held(Bench bench, String beside, Callable<AutoCloseable> hold)
      throws Exception {
    for (int run = 1; run <= bench.runs; run++) {
      try (Fleet fleet = new Fleet(bench, SAME_PROCESS, KEYS, Woken.AFTER_COMMITS, null)) {
        bench.say(beside, 0);
        Outcome ignored = fleet.run(HELD_RATE, bench.scaled(WARM_UP));
        try (AutoCloseable held = hold.call()) {
          for (int part = 1; part <= HELD_PARTS; part++) {
            bench.say(beside + ", part " + part, run);
            Outcome done = fleet.run(HELD_RATE, bench.scaled(HELD_TIME.dividedBy(HELD_PARTS)));
            done.report(bench, "beside %s, fifth %s".formatted(beside, part));
          }
        }
      }
    }
  }
}
