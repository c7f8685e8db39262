package dev.outbox.dev.bench;

import java.util.List;

/**
 * One figure, measured once in each run.
 *
 * @param values not empty, in the order of the runs
 */
record Samples(List<Double> values) {
  Samples {
    values = List.copyOf(values);
    if (values.isEmpty()) {
      throw new IllegalArgumentException("a figure needs at least one value");
    }
  }

  double median() {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  double min() {
    return values.stream().mapToDouble(v -> v).min().orElseThrow();
  }

  double max() {
    return values.stream().mapToDouble(v -> v).max().orElseThrow();
  }
}
