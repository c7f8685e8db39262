package dev.outbox.dev.bench;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/** Several kinds of a transaction that take turns, each of them timed. */
final class Turns {
  private Turns() {}

  /**
   * Of each kind the median, in microseconds.
   *
   * @param kinds the nth transaction of each, made ready outside the measured time
   */
  static double[] medians(int transactions, IntFunction<List<Runnable>> kinds) {
    double[][] micros = new double[transactions][];
    for (int i = 0; i < transactions; i++) {
      micros[i] = kinds.apply(i).stream().mapToDouble(Turns::micros).toArray();
    }
    double[] medians = new double[micros[0].length];
    Arrays.setAll(
        medians,
        kind ->
            Arrays.stream(micros)
                .mapToDouble(each -> each[kind])
                .sorted()
                .toArray()[transactions / 2]);
    return medians;
  }

  private static double micros(Runnable transaction) {
    long before = System.nanoTime();
    transaction.run();
    return (System.nanoTime() - before) / 1e3;
  }
}
