package dev.outbox.dev.bench;

import dev.outbox.dev.bench.CpuClock.Time;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One figure, measured once in each run.
 *
 * @param runs not empty, in their order
 * @param cost what was done for a message; null: it stands elsewhere
 * @param cpu of a message in microseconds, in each run; empty: it stands elsewhere. The server's is
 *     not a number where it cannot be known
 */
record Figure(List<Double> runs, @Nullable Cost cost, List<Time> cpu) {
  Figure {
    runs = List.copyOf(runs);
    cpu = List.copyOf(cpu);
  }

  static Figure of(List<Double> runs) {
    return new Figure(runs, null, List.of());
  }

  static Figure of(double value) {
    return of(List.of(value));
  }

  double median() {
    return median(runs);
  }

  /** Of the server, the client, or both, in which it is the median of the sums. */
  double cpu(ToDoubleFunction<Time> whose) {
    return median(cpu.stream().map(whose::applyAsDouble).toList());
  }

  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  Map<String, Object> json() {
    return Map.of(
        "median",
        median(),
        "min",
        Collections.min(runs),
        "max",
        Collections.max(runs),
        "runs",
        runs);
  }

  /** By name; what cannot be known is absent. */
  Map<String, Double> cpuJson() {
    Map<String, Double> all = new LinkedHashMap<>();
    all.put("serverCpuMicros", cpu(Time::server));
    all.put("clientCpuMicros", cpu(Time::client));
    all.put("cpuMicros", cpu(Time::sum));
    all.values().removeIf(value -> value.isNaN());
    return all;
  }
}
