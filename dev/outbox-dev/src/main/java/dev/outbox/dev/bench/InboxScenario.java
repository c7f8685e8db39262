package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.inbox.InboxKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What remembering a message adds to the transaction of a consumer. */
final class InboxScenario implements Scenario {
  private static final int TRANSACTIONS = 5_000;

  @Override
  public String name() {
    return "inbox";
  }

  @Override
  public String what() {
    return """
        One consumer; a transaction writes one business row, and firstTime records a new message. \
        Time of the whole transaction, commit included. \
        Limit: the same without firstTime; the two take turns, transaction by transaction.""";
  }

  /** Microseconds of each transaction, sorted. */
  private record Run(double[] with, double[] without) {}

  @Override
  public void run(Bench bench) throws Exception {
    try (Access access = bench.database().open(1);
        Business consumer = access.business()) {
      List<Run> runs = new ArrayList<>();
      for (int run = 0; run <= bench.runs(); run++) {
        bench.progress(
            "inbox: " + (run == 0 ? "warm-up" : "run %d of %d".formatted(run, bench.runs())));
        bench.settle();
        Run measured = byTurns(consumer, run, bench.scaled(TRANSACTIONS));
        if (run > 0) {
          runs.add(measured);
        }
      }
      report(bench, "firstTime of a new message, p50", runs, micros -> micros[micros.length / 2]);
      report(
          bench,
          "firstTime of a new message, mean",
          runs,
          micros -> Arrays.stream(micros).average().orElseThrow());
    }
  }

  private static Run byTurns(Business consumer, int run, int transactions) {
    double[] with = new double[transactions];
    double[] without = new double[transactions];
    for (int i = 0; i < transactions; i++) {
      with[i] = micros(consumer, new InboxKey("shipping", run + "-" + i));
      without[i] = micros(consumer, null);
    }
    Arrays.sort(with);
    Arrays.sort(without);
    return new Run(with, without);
  }

  private static double micros(Business consumer, @Nullable InboxKey key) {
    long before = System.nanoTime();
    consumer.consume(key);
    return (System.nanoTime() - before) / 1e3;
  }

  private void report(Bench bench, String name, List<Run> runs, ToDoubleFunction<double[]> figure) {
    bench.report(
        Line.beside(
            name(),
            name,
            "µs",
            new Samples(runs.stream().map(r -> figure.applyAsDouble(r.with())).toList()),
            new Samples(runs.stream().map(r -> figure.applyAsDouble(r.without())).toList())));
  }
}
