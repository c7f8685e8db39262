package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Ledger.Publication;
import dev.outbox.dev.common.Percentiles;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

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

  /** Something that takes a while. */
  interface Step {
    void run() throws Exception;
  }

  /**
   * Runs the load, and waits until all is delivered.
   *
   * @param ledger is told what is committed and published
   * @param counter of what is done in this process
   * @param work of other processes; when it is known, the ledger knows all that they did
   */
  static OpenRun of(
      Bench bench, Ledger<?> ledger, Step load, WorkCounter counter, Callable<Work> work)
      throws Exception {
    bench.settle();
    Work before = work.call().plus(counter);
    CpuClock.Time cpuBefore = bench.cpu().now();
    ledger.clear();
    load.run();
    await(ledger, work);
    Work done = work.call().plus(counter).since(before);
    CpuClock.Time cpu = bench.cpu().now().since(cpuBefore);
    int messages = ledger.committed();
    return new OpenRun(
        ledger.millis(commit -> true, Publication::called),
        ledger.millis(commit -> true, Publication::acknowledged),
        (double) done.statements() / messages,
        cpu.plus(new CpuClock.Time(0, done.cpuNanos())).perMessage(messages));
  }

  /** Waits until all is delivered. */
  static void await(Ledger<?> ledger, Callable<Work> work) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    Work ignored = work.call();
    while (ledger.outstanding() > 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "of %d messages %d were not delivered within %s"
                .formatted(ledger.committed(), ledger.outstanding(), PATIENCE));
      }
      LockSupport.parkNanos(50_000_000);
      ignored = work.call();
    }
  }

  /** Adds percentiles of {@link #called} or {@link #acknowledged} to lines. */
  static void report(Bench bench, String name, List<Double> times, double... percentiles) {
    for (double percentile : percentiles) {
      String which = (percentile % 1 == 0 ? ", p%.0f" : ", p%.1f").formatted(percentile);
      bench.report(name + which, "ms", Percentiles.of(times, percentile));
    }
  }

  /** Adds the requests and the CPU time of a message to a line. */
  void reportCost(Bench bench, String name) {
    bench.line(name + ", " + bench.database().requests(), "a message").ours().add(statements, cpu);
  }
}
