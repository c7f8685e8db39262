package dev.outbox.dev.common;

import java.util.List;

/** Percentiles of a few thousand values, exactly. */
public final class Percentiles {
  private Percentiles() {}

  /**
   * The value that so many percent reach at most.
   *
   * @param values at least one, in any order
   */
  public static double of(List<Double> values, double percent) {
    int rank = (int) Math.ceil(values.size() * percent / 100);
    return values.stream().sorted().toList().get(Math.max(1, rank) - 1);
  }

  /** The value in the middle, or what lies between the two that are there. */
  public static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
