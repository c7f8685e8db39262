package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Cost.ServerWork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What appending adds to a business transaction. */
final class AppendScenario extends Scenario {
  private static final int TRANSACTIONS = 5_000;
  private static final int WARM_UP = 2_000;
  private static final int KEYS = 10_000;
  static final int[] MESSAGES = {1, 10};

  AppendScenario() {
    super(
        "append",
        """
        One client; a transaction writes one business row and appends messages of 200 bytes. \
        Time of the whole transaction, commit included; the kinds take turns, transaction by transaction. \
        CPU is that of as many transactions of one kind after the other. \
        Limit: the same with bare inserts of a like row, or with none.""");
  }

  /** Of one kind of transaction, each run's. */
  private static final class Measured {
    private final List<Double> micros = new ArrayList<>();
    private final List<CpuClock.Time> cpu = new ArrayList<>();

    Figure figure(@Nullable Cost cost) {
      return new Figure(micros, cost, cpu);
    }
  }

  @Override
  void run(Bench bench) throws Exception {
    for (int messages : MESSAGES) {
      measure(bench, messages);
    }
  }

  private void measure(Bench bench, int messages) throws Exception {
    String name = DrainScenario.count(messages, "message") + " a transaction";
    int transactions = bench.scaled(TRANSACTIONS);
    Map<Append, Measured> all = new EnumMap<>(Append.class);
    try (Access<?> access = bench.database().open(1);
        Business business = access.business()) {
      for (int run = 0; run <= bench.runs(); run++) {
        say(bench, name, run);
        empty(bench);
        bench.settle();
        int count = run == 0 ? Math.min(transactions, WARM_UP) : transactions;
        double[] medians = Turns.medians(count, i -> turn(business, i, messages));
        if (run > 0) {
          for (Append append : Append.values()) {
            Measured measured = all.computeIfAbsent(append, a -> new Measured());
            measured.micros.add(medians[append.ordinal()]);
            measured.cpu.add(cpu(bench, business, append, count, messages));
          }
        }
      }
    }
    say(bench, name, "counting");
    Cost ours = counted(bench, Append.OUTBOX, Side.OURS, transactions, messages);
    Cost bare = counted(bench, Append.BARE, Side.LIMIT, transactions, messages);
    report(bench, name + ", p50, beside bare inserts", all, ours, Append.BARE, bare);
    report(bench, name + ", p50, beside no message", all, null, Append.NONE, null);
  }

  private void report(
      Bench bench,
      String name,
      Map<Append, Measured> all,
      @Nullable Cost ours,
      Append beside,
      @Nullable Cost cost) {
    Figure figure = all.getOrDefault(Append.OUTBOX, new Measured()).figure(ours);
    report(bench, name, "µs", figure, all.getOrDefault(beside, new Measured()).figure(cost));
  }

  /** A transaction of each kind, with messages of its own. */
  private static List<Runnable> turn(Business business, int number, int messages) {
    return Arrays.stream(Append.values())
        .map(
            append -> {
              List<OutboxMessage> appended = messages(number, messages);
              return (Runnable) () -> business.transaction(append, appended);
            })
        .toList();
  }

  /** Of transactions of one kind, for each message that they append, or would. */
  private static CpuClock.Time cpu(
      Bench bench, Business business, Append append, int transactions, int messages) {
    List<List<OutboxMessage>> appended =
        IntStream.range(0, transactions).mapToObj(i -> messages(i, messages)).toList();
    bench.settle();
    CpuClock.Time before = bench.cpu().now();
    appended.forEach(each -> business.transaction(append, each));
    return bench.cpu().now().since(before).perMessage((long) transactions * messages);
  }

  private static void empty(Bench bench) {
    for (Side side : Side.values()) {
      bench.database().empty(side);
      bench.database().tidy(side);
    }
    bench.database().checkpoint();
  }

  /** Built outside the measured time, of both sides alike. */
  private static List<OutboxMessage> messages(int transaction, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> OpenLoad.message((transaction * count + i) % KEYS))
        .toList();
  }

  /** Appends to empty tables, with everything counted and nothing timed. */
  static Cost counted(Bench bench, Append append, Side side, int transactions, int messages) {
    empty(bench);
    WorkCounter counter = new WorkCounter();
    ServerWork before = bench.database().written(side);
    try (Access<?> access = bench.database().open(1, counter);
        Business business = access.business()) {
      for (int i = 0; i < transactions; i++) {
        business.transaction(append, messages(i, messages));
      }
    }
    return new Cost(
        (long) transactions * messages,
        counter.counted(),
        bench.database().written(side).since(before));
  }
}
