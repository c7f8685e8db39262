package dev.outbox.dev.bench;

import dev.outbox.dev.bench.CpuClock.Time;
import dev.outbox.dev.common.Percentiles;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** One figure, measured once in each run. */
final class Figure {
  private final List<Double> runs = new ArrayList<>();
  private final List<Time> cpu = new ArrayList<>();

  void add(double value) {
    runs.add(value);
  }

  /**
   * Adds a run.
   *
   * @param time CPU time of a message in microseconds; the server's is not a number where it cannot
   *     be known
   */
  void add(double value, Time time) {
    runs.add(value);
    cpu.add(time);
  }

  List<Double> runs() {
    return runs;
  }

  /** Whether its CPU time is here, and not elsewhere. */
  boolean hasCpu() {
    return !cpu.isEmpty();
  }

  double median() {
    return Percentiles.median(runs);
  }

  /** Of the server, the client, or both, in which it is the median of the sums. */
  double cpu(ToDoubleFunction<Time> whose) {
    return Percentiles.median(cpu.stream().map(whose::applyAsDouble).toList());
  }
}
