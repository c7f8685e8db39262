package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.bench.Throughput.Step;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Ledger.Publication;
import dev.outbox.dev.common.Percentiles;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * What became of business transactions with one message each at a fixed rate, its key by chance.
 *
 * @param called milliseconds from a message's commit to the call of the publisher
 * @param acknowledged the same, to the end of that call
 * @param statements a message
 * @param cpu a message
 */
record OpenLoad(
    List<Double> called, List<Double> acknowledged, double statements, CpuClock.Time cpu) {
  static final String ORDER = "order";
  private static final int PAYLOAD = 200;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  static OutboxMessage message(int key) {
    return order("order-" + key).build();
  }

  /** One that waits for no other. */
  static OutboxMessage unordered() {
    return order("order").unordered().build();
  }

  private static OutboxMessage.Builder order(String id) {
    return OutboxMessage.builder()
        .aggregate(ORDER, id)
        .eventType("OrderPlaced")
        .payload(new byte[PAYLOAD]);
  }

  /**
   * Runs a load, and waits until all is delivered.
   *
   * @param ledger is told what is committed and published
   * @param work of all processes that take part; when it is known, the ledger knows all that they
   *     did
   */
  static OpenLoad measure(Bench bench, Ledger<?> ledger, Step load, Supplier<Usage> work)
      throws Exception {
    bench.settle();
    Usage before = work.get();
    double serverBefore = bench.cpu().now().server();
    ledger.clear();
    load.run();
    await(ledger, work);
    Usage done = work.get().since(before);
    double server = bench.cpu().now().server() - serverBefore;
    int messages = ledger.committed();
    return new OpenLoad(
        ledger.millis(commit -> true, Publication::called),
        ledger.millis(commit -> true, Publication::acknowledged),
        (double) done.statements() / messages,
        new CpuClock.Time(server, done.cpuNanos()).perMessage(messages));
  }

  static void await(Ledger<?> ledger, Supplier<Usage> work) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    Usage ignored = work.get();
    while (ledger.outstanding() > 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "of %s messages %s were not delivered within %s"
                .formatted(ledger.committed(), ledger.outstanding(), PATIENCE));
      }
      LockSupport.parkNanos(50_000_000);
      ignored = work.get();
    }
  }

  /** Adds percentiles of {@link #called} or {@link #acknowledged} to lines. */
  static void report(Bench bench, String name, List<Double> times, double... percentiles) {
    for (double percentile : percentiles) {
      bench.report(name + ", " + name(percentile), "ms", Percentiles.of(times, percentile));
    }
  }

  /** As p99.9. */
  static String name(double percentile) {
    return String.format(Locale.ROOT, percentile % 1 == 0 ? "p%.0f" : "p%.1f", percentile);
  }

  /** Adds the requests and the CPU time of a message to a line. */
  void reportCost(Bench bench, String name) {
    bench.line(name + ", statements", "a message").ours().add(statements, cpu);
  }
}
