package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.dev.common.Percentiles;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What became of an {@link OpenLoad}.
 *
 * @param called milliseconds from a message's commit to the call of the publisher
 * @param acknowledged the same, to the end of that call
 * @param statements a message
 * @param cpu a message
 */
record OpenRun(
    List<Double> called, List<Double> acknowledged, double statements, CpuClock.Time cpu) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /**
   * Runs the load, and waits until all is delivered.
   *
   * @param load returns when each message was committed
   * @param counter of what is done in this process
   * @param work of other processes
   */
  static OpenRun of(
      Bench bench,
      Callable<Map<UUID, Long>> load,
      WorkCounter counter,
      Callable<Map<UUID, Stamp>> stamps,
      Callable<Work> work)
      throws Exception {
    bench.settle();
    Work before = work.call().plus(counter);
    CpuClock.Time cpuBefore = bench.cpu().now();
    Map<UUID, Long> commits = load.call();
    Map<UUID, Stamp> delivered = await(commits, stamps);
    Work done = work.call().plus(counter).since(before);
    CpuClock.Time cpu = bench.cpu().now().since(cpuBefore);
    return new OpenRun(
        millis(commits, delivered, Stamp::called),
        millis(commits, delivered, Stamp::acknowledged),
        (double) done.statements() / commits.size(),
        cpu.plus(new CpuClock.Time(0, done.cpuNanos())).perMessage(commits.size()));
  }

  /** Waits until all is delivered. */
  static Map<UUID, Stamp> await(Map<UUID, Long> commits, Callable<Map<UUID, Stamp>> stamps)
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

  /** A message may be published before its client knows that it is committed: then 0. */
  private static List<Double> millis(
      Map<UUID, Long> commits, Map<UUID, Stamp> stamps, ToLongFunction<Stamp> time) {
    return commits.entrySet().stream()
        .map(
            commit -> {
              Stamp stamp = stamps.get(commit.getKey());
              long end = stamp == null ? Long.MAX_VALUE : time.applyAsLong(stamp);
              return Math.max(0, end - commit.getValue()) / 1e3;
            })
        .toList();
  }

  /**
   * @param percentiles of all messages of a run
   */
  static void reportTimes(
      Bench bench,
      Scenario scenario,
      String name,
      List<OpenRun> runs,
      Function<OpenRun, List<Double>> times,
      double[] percentiles) {
    for (double percentile : percentiles) {
      String which = (percentile % 1 == 0 ? ", p%.0f" : ", p%.1f").formatted(percentile);
      scenario.report(
          bench,
          name + which,
          "ms",
          runs.stream().map(run -> Percentiles.of(times.apply(run), percentile)).toList());
    }
  }

  /** Of a message the requests and the CPU time. */
  static void reportCost(Bench bench, Scenario scenario, String name, List<OpenRun> runs) {
    Figure figure =
        new Figure(
            runs.stream().map(OpenRun::statements).toList(),
            null,
            runs.stream().map(OpenRun::cpu).toList());
    scenario.report(bench, name + ", " + bench.database().requests(), "a message", figure, null);
  }
}
