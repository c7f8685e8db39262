package dev.outbox.dev.bench;

import dev.outbox.dev.bench.CpuClock.Time;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time, in microseconds a message, of each timed run.
 *
 * @param runs not empty; the server's is not a number where it cannot be known
 */
record Cpu(List<Time> runs) {
  Cpu {
    runs = List.copyOf(runs);
  }

  double server() {
    return new Samples(runs.stream().map(Time::server).toList()).median();
  }

  double client() {
    return new Samples(runs.stream().map(Time::client).toList()).median();
  }

  /** Of both; the median of the sums. */
  double sum() {
    return new Samples(runs.stream().map(Time::sum).toList()).median();
  }

  /** By name; what cannot be known is absent. */
  Map<String, Double> byName() {
    Map<String, Double> all = new LinkedHashMap<>();
    all.put("serverCpuMicros", server());
    all.put("clientCpuMicros", client());
    all.put("cpuMicros", sum());
    all.values().removeIf(value -> value.isNaN());
    return all;
  }
}
