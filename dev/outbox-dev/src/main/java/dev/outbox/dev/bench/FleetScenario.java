package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchClient.Woken;
import dev.outbox.dev.bench.Fleet.Outcome;
import dev.outbox.dev.bench.Fleet.Pod;
import dev.outbox.dev.bench.Fleet.Shape;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.spi.store.KeepingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What many relays on one outbox cost, how long keys stand still when one of them ends, and how
 * long messages take to the publisher.
 */
record FleetScenario(Bench bench) {
  private static final int[] PODS = {1, 2, 8, 20};
  private static final int[] PODS_THAT_END = {2, 8};
  private static final int IN_ONE_PROCESS = 20;
  private static final int[] RATES = {10, 200, 2_000};
  private static final int RATE = 200;
  private static final int KEYS = 1_000;

  /** Of all pods together; each has one at least. */
  private static final int CLIENTS = 4;

  /** Until JVMs have compiled what a message needs. */
  private static final Duration WARM_UP = Duration.ofSeconds(30);

  private static final int WARM_UP_RATE = 1_500;

  /** Until one relay holds all: it takes ten seconds without messages. */
  private static final Duration BEFORE_IDLE = Duration.ofSeconds(20);

  /** With one round of housekeeping of each relay. */
  private static final Duration IDLE = Duration.ofMinutes(1);

  private static final Duration TIME = Duration.ofSeconds(20);

  private static final int KILLS = 50;

  /** Before a pod ends, and before another takes its place. */
  private static final Duration REST = Duration.ofSeconds(5);

  /** How often relays look who lives. */
  private static final Duration LOOKS = Duration.ofSeconds(1);

  /** At less than this scale, times this, fleets are smaller. */
  private static final int MOST = 400;

  private static final int[] LATENCY_RATES = {200, 2_000};
  private static final int MANY_KEYS = 10_000;
  private static final List<Shape> SAME_PROCESS = List.of(new Shape(1, CLIENTS));
  private static final List<Shape> ANOTHER = List.of(new Shape(0, CLIENTS), new Shape(1, 0));
  private static final Duration SHORT_WARM_UP = Duration.ofSeconds(15);

  private static final int HELD_RATE = 2_000;
  private static final int HELD_PARTS = 5;
  private static final Duration HELD_TIME = Duration.ofMinutes(10);

  void run() throws Exception {
    int most = bench.scaled(MOST, 2);
    for (int pods : PODS) {
      if (pods <= most) {
        measure(Draining.count(pods, "pod"), pods, 1);
      }
    }
    int relays = Math.min(most, IN_ONE_PROCESS);
    measure("%s relays in one process".formatted(relays), 1, relays);
  }

  void ends() throws Exception {
    for (int pods : PODS_THAT_END) {
      if (pods <= bench.scaled(MOST, 2)) {
        ends(pods);
      }
    }
  }

  private Fleet fleet(int pods, int relays) {
    Shape shape = new Shape(relays, Math.max(1, CLIENTS / pods));
    return new Fleet(bench, Collections.nCopies(pods, shape), KEYS, Woken.HANDED_OVER, null);
  }

  private void warmUp(String who, Fleet fleet) throws InterruptedException {
    bench.say(who, 0);
    Outcome ignored = fleet.run(WARM_UP_RATE, bench.unscaled(WARM_UP));
  }

  private void measure(String who, int pods, int relays) throws Exception {
    try (Fleet fleet = fleet(pods, relays)) {
      warmUp(who, fleet);
      idle(who + ", idle", fleet);
      for (int rate : RATES) {
        String name = who + ", " + Draining.perSecond(rate);
        for (int run = 1; run <= bench.runs; run++) {
          bench.say(name, run);
          Outcome done = fleet.run(rate, bench.scaled(TIME));
          done.report(bench, name);
        }
      }
    }
  }

  private void idle(String name, Fleet fleet) throws InterruptedException {
    Thread.sleep(bench.unscaled(BEFORE_IDLE).toMillis());
    for (int run = 1; run <= bench.runs; run++) {
      bench.say(name, run);
      Fleet.Usage before = fleet.work();
      long begin = System.nanoTime();
      Thread.sleep(bench.unscaled(IDLE).toMillis());
      long statements = fleet.work().since(before).statements();
      double seconds = (System.nanoTime() - begin) / 1e9;
      bench.report(name + ", statements", "statements/s", statements / seconds);
    }
  }

  /** Something that ends pods; returns the keys that it may hold up. */
  private interface Ending {
    Predicate<String> end(Fleet fleet) throws InterruptedException;
  }

  private void ends(int pods) throws Exception {
    String who = Draining.count(pods, "pod");
    Duration rest = bench.unscaled(REST);
    try (Fleet fleet = fleet(pods, 1)) {
      warmUp(who, fleet);
      measure(who + ", one is killed", fleet, KILLS, f -> one(f, Pod::kill, rest));
      measure(who + ", one ends", fleet, 1, f -> one(f, Pod::end, rest));
      measure(who + ", each is replaced", fleet, 1, FleetScenario::each);
    }
  }

  /** Ends the pod that has published last for the most keys, and starts another after a time. */
  private static Predicate<String> one(Fleet fleet, Consumer<Pod> how, Duration rest)
      throws InterruptedException {
    Map.Entry<Pod, Set<String>> most =
        fleet.ledger.keys().entrySet().stream()
            .max(Comparator.comparing(keys -> keys.getValue().size()))
            .orElseThrow();
    how.accept(most.getKey());
    Thread.sleep(rest.toMillis());
    most.getKey().replace(RATE);
    return most.getValue()::contains;
  }

  private static Predicate<String> each(Fleet fleet) {
    for (Pod pod : fleet.pods) {
      pod.end();
      pod.replace(RATE);
    }
    return key -> true;
  }

  /**
   * In each run it ends something as often as {@code full} says at full scale; of each time counts
   * the key that stood still the longest.
   */
  private void measure(String name, Fleet fleet, int full, Ending ending) throws Exception {
    for (int run = 1; run <= bench.runs; run++) {
      bench.say(name, run);
      List<Double> longest = new ArrayList<>();
      int repeats = 0;
      int times = bench.scaled(full, 1);
      for (int i = 0; i < times; i++) {
        fleet.load(RATE);
        // Else a pod would end at the same time after a look of the one that was started last.
        Duration phase = LOOKS.multipliedBy(i).dividedBy(times);
        Thread.sleep(bench.unscaled(REST.plus(phase)).toMillis());
        Fleet.Usage ignored = fleet.work(); // what they said so far is known
        long begin = System.nanoTime();
        Predicate<String> concerned = ending.end(fleet);
        fleet.halt();
        longest.add(Percentiles.of(fleet.ledger.standstills(concerned, begin), 100));
        repeats += fleet.ledger.repeats();
      }
      bench.report(name + ", standstill, p50", "ms", Percentiles.of(longest, 50));
      bench.report(name + ", standstill, max", "ms", Percentiles.of(longest, 100));
      bench.report(name + ", published again", "messages", (double) repeats / longest.size());
    }
  }

  void latency() throws Exception {
    for (Woken woken : Woken.values()) {
      if (woken != Woken.HANDED_OVER || handsOver()) {
        latency(woken);
      }
    }
  }

  private boolean handsOver() {
    try (JdbcPlace place = bench.database.open(1)) {
      return place.store() instanceof KeepingStore<?> able && able.handsOver();
    }
  }

  /** How long messages take to the publisher, by the ways in which a relay hears of them. */
  private void latency(Woken woken) throws Exception {
    List<Shape> pods = woken == Woken.NOT ? ANOTHER : SAME_PROCESS;
    try (KafkaBroker topic = bench.topic();
        Fleet fleet = new Fleet(bench, pods, MANY_KEYS, woken, topic)) {
      for (int rate : LATENCY_RATES) {
        String name = Draining.perSecond(rate) + ", " + woken.label;
        for (int run = 0; run <= bench.runs; run++) {
          bench.say(name, run);
          Outcome done = fleet.run(rate, bench.scaled(run == 0 ? SHORT_WARM_UP : TIME));
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
  void held() throws Exception {
    held("nothing", () -> () -> {});
    held("one that has appended", bench.database::appender);
  }

  private void held(String beside, Callable<AutoCloseable> hold) throws Exception {
    for (int run = 1; run <= bench.runs; run++) {
      try (Fleet fleet = new Fleet(bench, SAME_PROCESS, MANY_KEYS, Woken.AFTER_COMMITS, null)) {
        bench.say(beside, 0);
        Outcome ignored = fleet.run(HELD_RATE, bench.scaled(SHORT_WARM_UP));
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
