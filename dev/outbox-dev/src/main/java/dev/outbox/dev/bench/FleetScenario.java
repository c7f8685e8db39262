package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Fleet.Done;
import dev.outbox.dev.common.Percentiles;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** What many relays on one outbox cost, and how long keys stand still when one of them ends. */
final class FleetScenario {
  private static final int[] PODS = {1, 2, 8, 20};
  private static final int[] PODS_THAT_END = {2, 8};
  private static final int IN_ONE_PROCESS = 20;
  private static final int[] RATES = {10, 200, 2_000};
  private static final int RATE = 200;
  private static final int MESSAGES = 200_000;
  private static final double[] PERCENTILES = {50, 99};

  /** Until JVMs have compiled what a message needs; at any scale. */
  private static final Duration WARM_UP = Duration.ofSeconds(30);

  private static final int WARM_UP_RATE = 1_500;
  private static final Duration BEFORE_IDLE = Duration.ofMinutes(1);
  private static final Duration TIME = Duration.ofSeconds(20);

  /** For a backlog. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** At less than this scale, times this, fleets are smaller. */
  private static final int MOST = 400;

  static final Scenario SCENARIO =
      new Scenario(
          "fleet",
          """
          Pods of a service, each a process of its own with one relay with defaults, whose publisher takes everything at once, \
          and clients (4 in all, at least one each) that append one message of 200 bytes a transaction by their relay and tell it of the commit; \
          1,000 keys, a fixed schedule; before that half a minute at 1,500/s, for JVMs to compile. And one process with 20 relays. Rates are of all pods together; times are from the commit in any pod to the publisher. \
          Statements and CPU are those of all pods and of the server; commits are no statements. A backlog is of 200,000 messages. \
          At 200/s one pod is killed (SIGKILL) or ends in good order: the one that published last for most keys, and of those keys the longest time in which there was something to publish and nothing was published; \
          or all pods are replaced one after another: the same of all keys. There is no limit to compare with.""",
          FleetScenario::run);

  private FleetScenario() {}

  private static void run(Bench bench) throws Exception {
    int most = bench.scaled(MOST, 2);
    for (int pods : PODS) {
      if (pods <= most) {
        measure(bench, Draining.count(pods, "pod"), pods, 1);
      }
    }
    int relays = Math.min(most, IN_ONE_PROCESS);
    measure(bench, "%d relays in one process".formatted(relays), 1, relays);
    for (int pods : PODS_THAT_END) {
      if (pods <= most) {
        endings(bench, pods);
      }
    }
  }

  private static void measure(Bench bench, String who, int pods, int relays) throws Exception {
    bench.say(who, 0);
    try (Fleet fleet = new Fleet(bench, pods, relays)) {
      OpenRun ignored = fleet.run(WARM_UP_RATE, WARM_UP);
      idle(bench, who + ", idle", fleet);
      for (int rate : RATES) {
        String name = "%s, %,d/s".formatted(who, rate);
        for (int run = 1; run <= bench.runs(); run++) {
          bench.say(name, run);
          OpenRun done = fleet.run(rate, bench.scaled(TIME));
          OpenRun.report(bench, name, done.called(), PERCENTILES);
          done.reportCost(bench, name);
        }
      }
      backlog(bench, who + ", backlog", fleet);
    }
  }

  private static void idle(Bench bench, String name, Fleet fleet) throws InterruptedException {
    String requests = bench.database().requests();
    Thread.sleep(bench.scaled(BEFORE_IDLE).toMillis());
    for (int run = 1; run <= bench.runs(); run++) {
      bench.say(name, run);
      Done before = fleet.done();
      Thread.sleep(bench.scaled(TIME).toMillis());
      Done done = fleet.done().since(before);
      double statements = done.work().statements() * 1e9 / done.at();
      bench.report(name + ", " + requests, requests + "/s", statements);
      double server = done.cpu().server() * 100 / done.at();
      bench.report(name + ", server CPU", "% of a core", server);
      double client = done.cpu().client() * 100 / done.at();
      bench.report(name + ", client CPU", "% of a core", client);
    }
  }

  /** At the end the relays rest. */
  private static void backlog(Bench bench, String name, Fleet fleet) throws InterruptedException {
    Backlog load = new Backlog(bench.scaled(MESSAGES), Fleet.KEYS);
    for (int run = 1; run <= bench.runs(); run++) {
      bench.say(name, run);
      fleet.all(PodMain.REST);
      Draining.refill(bench.database(), Side.OURS, load);
      bench.settle();
      Done done = drain(fleet, load.messages());
      double rate = load.messages() * 1e9 / done.at();
      bench.line(name, "messages/s").ours().add(rate, done.cpu().perMessage(load.messages()));
      double statements = (double) done.work().statements() / load.messages();
      bench.report(name + ", " + bench.database().requests(), "a message", statements);
    }
    fleet.all(PodMain.REST);
  }

  private static Done drain(Fleet fleet, long messages) throws InterruptedException {
    Done before = fleet.done();
    fleet.all(PodMain.DRAIN);
    while (true) {
      Done done = fleet.done().since(before);
      if (done.work().drained() >= messages) {
        return done;
      }
      if (done.at() > PATIENCE.toNanos()) {
        throw new IllegalStateException(
            "of %d messages %d were published within %s"
                .formatted(messages, done.work().drained(), PATIENCE));
      }
      Thread.sleep(5);
    }
  }

  /** Something that ends pods; returns the keys that it may hold up. */
  private interface Ending {
    Predicate<String> end(Fleet fleet, Duration after) throws InterruptedException;
  }

  private static void endings(Bench bench, int pods) throws Exception {
    try (Fleet fleet = new Fleet(bench, pods, 1)) {
      String who = Draining.count(pods, "pod");
      bench.say(who, 0);
      OpenRun ignored = fleet.run(WARM_UP_RATE, WARM_UP);
      measure(bench, who + ", one is killed", fleet, (f, after) -> one(f, after, Pod::kill));
      measure(bench, who + ", one ends", fleet, (f, after) -> one(f, after, Pod::end));
      measure(bench, who + ", each is replaced", fleet, FleetScenario::each);
      fleet.all(PodMain.REST);
    }
  }

  /** Ends the pod that has published last for the most keys, and starts another after a time. */
  private static Predicate<String> one(Fleet fleet, Duration after, Consumer<Pod> how)
      throws InterruptedException {
    Map.Entry<Pod, Set<String>> most =
        fleet.ledger().keys().entrySet().stream()
            .max(Comparator.comparing(keys -> keys.getValue().size()))
            .orElseThrow();
    how.accept(most.getKey());
    Thread.sleep(after.toMillis());
    fleet.replace(most.getKey(), RATE);
    return most.getValue()::contains;
  }

  private static Predicate<String> each(Fleet fleet, Duration after) {
    for (Pod pod : fleet.pods()) {
      pod.end();
      fleet.replace(pod, RATE);
    }
    return key -> true;
  }

  private static void measure(Bench bench, String name, Fleet fleet, Ending ending)
      throws Exception {
    Duration half = bench.scaled(TIME.dividedBy(2));
    for (int run = 1; run <= bench.runs(); run++) {
      bench.say(name, run);
      fleet.load(RATE);
      Thread.sleep(half.toMillis());
      fleet.all(PodMain.WORK); // what they said so far is known
      long begin = System.nanoTime();
      Predicate<String> concerned = ending.end(fleet, half);
      fleet.halt();
      OpenRun.await(fleet.ledger(), fleet::work);
      List<Double> times = fleet.ledger().standstills(concerned, begin);
      double seconds = 100.0 * times.stream().filter(t -> t >= 1_000).count() / times.size();
      bench.report(name + ", standstill, p50", "ms", Percentiles.of(times, 50));
      bench.report(name + ", standstill, max", "ms", Percentiles.of(times, 100));
      bench.report(name + ", standstill of a second", "% of the keys", seconds);
      bench.report(name + ", published again", "messages", fleet.ledger().repeats());
    }
  }
}
