package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.dev.common.Percentiles;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.inbox.InboxKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** What appending, and remembering a message, adds to a business transaction. */
final class Transactions {
  private static final int TRANSACTIONS = 5_000;
  private static final int WARM_UP = 2_000;
  private static final int KEYS = 10_000;
  private static final int[] MESSAGES = {1, 10};

  private Transactions() {}

  static void append(Bench bench) throws Exception {
    for (int messages : MESSAGES) {
      measure(bench, messages);
    }
  }

  private static void measure(Bench bench, int messages) throws Exception {
    String name = Draining.count(messages, "message") + " a transaction";
    Line bare = bench.line(name + ", p50, beside bare inserts", "µs");
    Line none = bench.line(name + ", p50, beside no message", "µs");
    int transactions = bench.scaled(TRANSACTIONS);
    try (JdbcPlace place = bench.database.open(1);
        BenchClient business = new BenchClient(place)) {
      for (int run = 0; run <= bench.runs; run++) {
        bench.say(name, run);
        bench.database.renew(Side.OURS, Side.LIMIT);
        bench.settle();
        int count = run == 0 ? Math.min(transactions, WARM_UP) : transactions;
        List<Double> medians = medians(count, i -> turn(business, i, messages));
        if (run > 0) {
          bare.ours().add(medians.get(Side.OURS.ordinal()));
          none.ours().add(medians.get(Side.OURS.ordinal()));
          bare.limit().add(medians.get(Side.LIMIT.ordinal()));
          none.limit().add(medians.get(Side.NEITHER.ordinal()));
        }
      }
    }
  }

  /** A transaction of each kind, with messages of its own. */
  private static List<Runnable> turn(BenchClient business, int number, int messages) {
    return Arrays.stream(Side.values())
        .map(
            side -> {
              List<OutboxMessage> appended = // built outside the measured time, of all alike
                  IntStream.range(0, messages)
                      .mapToObj(i -> BenchClient.message((number * messages + i) % KEYS))
                      .toList();
              return (Runnable) () -> business.transaction(side, appended);
            })
        .toList();
  }

  static void inbox(Bench bench) throws Exception {
    try (JdbcPlace place = bench.database.open(1);
        BenchClient consumer = new BenchClient(place)) {
      for (int run = 0; run <= bench.runs; run++) {
        bench.say("firstTime", run);
        bench.settle();
        String prefix = run + "-";
        List<Double> medians =
            medians(
                bench.scaled(TRANSACTIONS),
                i -> {
                  InboxKey key = new InboxKey("shipping", prefix + i);
                  return List.of(() -> consumer.consume(key), () -> consumer.consume(null));
                });
        if (run > 0) {
          Line line = bench.line("firstTime of a new message, p50", "µs");
          line.ours().add(medians.get(0));
          line.limit().add(medians.get(1));
        }
      }
    }
  }

  /**
   * Of each kind the median, in microseconds.
   *
   * @param kinds the nth transaction of each, made ready outside the measured time
   */
  static List<Double> medians(int transactions, IntFunction<List<Runnable>> kinds) {
    Map<Integer, List<Double>> micros = new TreeMap<>();
    for (int i = 0; i < transactions; i++) {
      List<Runnable> each = kinds.apply(i);
      for (int kind = 0; kind < each.size(); kind++) {
        micros.computeIfAbsent(kind, k -> new ArrayList<>()).add(micros(each.get(kind)));
      }
    }
    return micros.values().stream().map(times -> Percentiles.of(times, 50)).toList();
  }

  private static double micros(Runnable transaction) {
    long before = System.nanoTime();
    transaction.run();
    return (System.nanoTime() - before) / 1e3;
  }
}
