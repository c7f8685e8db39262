package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.OtherProcess.Work;
import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.relay.Relay;
import dev.outbox.spi.KeepingStore;
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
  private static final Duration KEEP = Duration.ofSeconds(1);

  /** Who tells the relay that there is something. */
  private enum Woken {
    BY_APPENDS("same process, woken by appends"),
    AFTER_COMMITS("same process, woken after commits"),
    NOT("another process");

    private final String name;

    Woken(String name) {
      this.name = name;
    }
  }

  @Override
  public String name() {
    return "latency";
  }

  @Override
  public String what() {
    return """
        From when a commit has returned to the call of the publisher, and to the end of that call, when Kafka has \
        acknowledged all of it. Transactions with one message of 200 bytes, 10,000 keys, 4 clients on a fixed schedule; \
        a relay with defaults, and one that keeps keys for a second, where the store can: in the same process, woken \
        by appends or after each commit, or in another, which polls. Of a message also the statements of clients and \
        relay together, and the CPU time of their processes. There is no limit to compare with.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    boolean keeps;
    try (Access access = bench.database().open(1)) {
      keeps = access.store() instanceof KeepingStore;
    }
    for (Duration keep : keeps ? List.of(Duration.ZERO, KEEP) : List.of(Duration.ZERO)) {
      for (Woken woken : Woken.values()) {
        String name = woken.name + (keep.isZero() ? "" : ", keeps keys");
        bench.database().empty(Side.OURS);
        WorkCounter counter = new WorkCounter();
        try (KafkaTopic topic = new KafkaTopic(bench.kafka());
            Access clients = bench.database().open(CLIENTS, counter)) {
          if (woken == Woken.NOT) {
            try (OtherProcess other = new OtherProcess(bench.database(), topic, keep, true)) {
              measure(
                  bench, name, clients(clients, woken, null), counter, other::stamps, other::work);
            }
          } else {
            try (Access access = bench.database().open(Relay.Builder.DEFAULT_WORKERS + 1, counter);
                Stamps stamps = new Stamps(topic.publisher());
                Relay relay = Relay.builder(access.store(), stamps).keep(keep).build()) {
              relay.start();
              measure(
                  bench,
                  name,
                  clients(clients, woken, relay),
                  counter,
                  stamps::take,
                  Work::nothing);
            }
          }
        }
      }
    }
  }

  private static List<Business> clients(Access access, Woken woken, @Nullable Relay relay) {
    return IntStream.range(0, CLIENTS)
        .mapToObj(
            i ->
                woken == Woken.AFTER_COMMITS && relay != null
                    ? new Waking(access.business(), relay)
                    : access.business(relay))
        .toList();
  }

  /** As applications do it that know when a transaction is committed. */
  private record Waking(Business business, Relay relay) implements Business {
    @Override
    public void transaction(Append append, List<OutboxMessage> messages) {
      business.transaction(append, messages);
      relay.wake();
    }

    @Override
    public void close() {
      business.close();
    }
  }

  /**
   * @param counter of what is done in this process
   * @param work of a relay in another process
   */
  private void measure(
      Bench bench,
      String where,
      List<Business> clients,
      WorkCounter counter,
      Callable<Map<UUID, Stamp>> stamps,
      Callable<Work> work)
      throws Exception {
    try {
      for (int rate : RATES) {
        String name = "%,d/s, %s".formatted(rate, where);
        List<double[]> called = new ArrayList<>();
        List<double[]> acknowledged = new ArrayList<>();
        List<Double> statements = new ArrayList<>();
        List<CpuClock.Time> cpu = new ArrayList<>();
        for (int run = 0; run <= bench.runs(); run++) {
          boolean warmUp = run == 0;
          bench.progress(
              "%s, %s: %s"
                  .formatted(
                      name(), name, warmUp ? "warm-up" : "run " + run + " of " + bench.runs()));
          bench.settle();
          Work before = work.call().plus(counter);
          CpuClock.Time cpuBefore = bench.cpu().now();
          Map<UUID, Long> commits =
              OpenLoad.run(clients, rate, bench.scaled(warmUp ? WARM_UP : TIME));
          Map<UUID, Stamp> delivered = await(commits, stamps);
          Work done = work.call().plus(counter).since(before);
          CpuClock.Time time = bench.cpu().now().since(cpuBefore);
          if (!warmUp) {
            called.add(millis(commits, delivered, Stamp::called));
            acknowledged.add(millis(commits, delivered, Stamp::acknowledged));
            statements.add((double) done.statements() / commits.size());
            cpu.add(time.plus(new CpuClock.Time(0, done.cpuNanos())).perMessage(commits.size()));
          }
        }
        report(bench, name + ", commit to publisher", called);
        report(bench, name + ", commit to acknowledgement", acknowledged);
        String requests = bench.database().requests();
        bench.report(
            Line.of(name(), name + ", " + requests, "a message", new Samples(statements), cpu));
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
