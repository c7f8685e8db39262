package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.relay.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How long a message takes from its commit to the publisher, and to Kafka's acknowledgement. */
final class LatencyScenario implements Scenario {
  private static final int[] RATES = {200, 2_000};
  private static final double[] PERCENTILES = {50, 99, 99.9};
  private static final int CLIENTS = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  @Override
  public String name() {
    return "latency";
  }

  @Override
  public String what() {
    return """
        From when a commit has returned to the call of the publisher, and to the end of that call, when Kafka has \
        acknowledged all of it. Transactions with one message of 200 bytes, 10,000 keys, 4 clients on a fixed schedule; \
        a relay with defaults: in the same process, woken by appends, or in another, which polls. There is no limit to \
        compare with.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    try (KafkaTopic topic = new KafkaTopic(bench.kafka());
        Access clients = bench.database().open(CLIENTS)) {
      bench.database().empty(Side.OURS);
      try (Access access = bench.database().open(Relay.Builder.DEFAULT_WORKERS + 1);
          Stamps stamps = new Stamps(topic.publisher());
          Relay relay = Relay.builder(access.store(), stamps).build()) {
        relay.start();
        measure(bench, "same process", clients, relay, stamps::take);
      }
      try (OtherProcess other = new OtherProcess(bench.database(), topic, false)) {
        measure(bench, "another process", clients, null, other::stamps);
      }
    }
  }

  private void measure(
      Bench bench,
      String where,
      Access access,
      @Nullable Relay relay,
      Callable<Map<UUID, Stamp>> stamps)
      throws Exception {
    List<Business> clients =
        IntStream.range(0, CLIENTS).mapToObj(i -> access.business(relay)).toList();
    try {
      for (int rate : RATES) {
        String name = "%,d/s, %s".formatted(rate, where);
        List<double[]> called = new ArrayList<>();
        List<double[]> acknowledged = new ArrayList<>();
        for (int run = 0; run <= bench.runs(); run++) {
          boolean warmUp = run == 0;
          bench.progress(
              "%s, %s: %s"
                  .formatted(
                      name(), name, warmUp ? "warm-up" : "run " + run + " of " + bench.runs()));
          bench.settle();
          Map<UUID, Long> commits =
              OpenLoad.run(clients, rate, bench.scaled(warmUp ? WARM_UP : TIME));
          Map<UUID, Stamp> delivered = await(commits, stamps);
          if (!warmUp) {
            called.add(millis(commits, delivered, Stamp::called));
            acknowledged.add(millis(commits, delivered, Stamp::acknowledged));
          }
        }
        report(bench, name + ", commit to publisher", called);
        report(bench, name + ", commit to acknowledgement", acknowledged);
      }
    } finally {
      clients.forEach(Business::close);
    }
  }

  private static Map<UUID, Stamp> await(Map<UUID, Long> commits, Callable<Map<UUID, Stamp>> stamps)
      throws Exception {
    Map<UUID, Stamp> all = new HashMap<>();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      all.putAll(stamps.call());
      if (all.keySet().containsAll(commits.keySet())) {
        return all;
      }
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "of %d messages %d were delivered within %s"
                .formatted(commits.size(), all.size(), PATIENCE));
      }
      LockSupport.parkNanos(50_000_000);
    }
  }

  /** Sorted. A message may be published before its client knows that it is committed: then 0. */
  private static double[] millis(
      Map<UUID, Long> commits, Map<UUID, Stamp> stamps, ToLongFunction<Stamp> time) {
    return commits.entrySet().stream()
        .mapToDouble(
            commit -> {
              Stamp stamp = stamps.get(commit.getKey());
              long end = stamp == null ? Long.MAX_VALUE : time.applyAsLong(stamp);
              return Math.max(0, end - commit.getValue()) / 1e3;
            })
        .sorted()
        .toArray();
  }

  private void report(Bench bench, String name, List<double[]> runs) {
    for (double percentile : PERCENTILES) {
      List<Double> values = runs.stream().map(run -> percentile(run, percentile)).toList();
      String which = percentile % 1 == 0 ? "%.0f" : "%.1f";
      bench.report(
          Line.alone(
              name(), name + ", p" + which.formatted(percentile), "ms", new Samples(values)));
    }
  }

  private static double percentile(double[] sorted, double percentile) {
    int rank = (int) Math.ceil(sorted.length * percentile / 100);
    return sorted[Math.max(1, rank) - 1];
  }
}
