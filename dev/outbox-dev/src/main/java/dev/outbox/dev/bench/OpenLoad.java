package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Ledger.Publication;
import dev.outbox.dev.common.Percentiles;
import java.util.List;

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
   * The result.
   *
   * @param ledger of all that was committed and published
   * @param done by all processes that took part
   * @param server nanoseconds of CPU time
   */
  static OpenLoad of(Ledger<?> ledger, Usage done, double server) {
    int messages = ledger.committed();
    return new OpenLoad(
        ledger.millis(commit -> true, Publication::called),
        ledger.millis(commit -> true, Publication::acknowledged),
        (double) done.statements() / messages,
        new CpuClock.Time(server, done.cpuNanos()).perMessage(messages));
  }

  /** Adds percentiles of {@link #called} or {@link #acknowledged} to lines. */
  static void report(Bench bench, String name, List<Double> times) {
    bench.report(name + ", p50", "ms", Percentiles.of(times, 50));
    bench.report(name + ", p99", "ms", Percentiles.of(times, 99));
  }

  /** Adds the requests and the CPU time of a message to a line. */
  void reportCost(Bench bench, String name) {
    bench.line(name + ", statements", "a message").ours().add(statements, cpu);
  }
}
