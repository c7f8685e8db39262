package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.inbox.InboxKey;
import java.util.ArrayList;
import java.util.List;

/** What remembering a message adds to the transaction of a consumer. */
final class InboxScenario extends Scenario {
  private static final int TRANSACTIONS = 5_000;

  InboxScenario() {
    super(
        "inbox",
        """
        One consumer; a transaction writes one business row, and firstTime records a new message. \
        Time of the whole transaction, commit included. \
        Limit: the same without firstTime; the two take turns, transaction by transaction.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    try (Access<?> access = bench.database().open(1);
        Business consumer = access.business()) {
      List<Double> with = new ArrayList<>();
      List<Double> without = new ArrayList<>();
      for (int run = 0; run <= bench.runs(); run++) {
        say(bench, "firstTime", run);
        bench.settle();
        String prefix = run + "-";
        double[] medians =
            Turns.medians(
                bench.scaled(TRANSACTIONS),
                i -> {
                  InboxKey key = new InboxKey("shipping", prefix + i);
                  return List.of(() -> consumer.consume(key), () -> consumer.consume(null));
                });
        if (run > 0) {
          with.add(medians[0]);
          without.add(medians[1]);
        }
      }
      report(bench, "firstTime of a new message, p50", "µs", Figure.of(with), Figure.of(without));
    }
  }
}
