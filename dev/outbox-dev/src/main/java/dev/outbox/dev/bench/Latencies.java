package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.Woken;
import dev.outbox.dev.bench.OpenRun.Step;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How long messages take to the publisher; and what a relay costs that has none. */
final class Latencies {
  private static final int[] RATES = {200, 2_000};
  private static final double[] PERCENTILES = {50, 99, 99.9};
  private static final int CLIENTS = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);

  private static final int HELD_RATE = 2_000;
  private static final int PARTS = 5;
  private static final Duration HELD_TIME = Duration.ofMinutes(10);
  private static final double[] HELD_PERCENTILES = {50, 99};
  private static final Duration BEFORE_IDLE = Duration.ofMinutes(1);
  private static final Duration IDLE_TIME = Duration.ofSeconds(10);

  static final Scenario LATENCY =
      new Scenario(
          "latency",
          """
          From when a commit has returned to the call of the publisher, and to the end of that call, when Kafka has \
          acknowledged all of it. Transactions with one message of 200 bytes, 10,000 keys, 4 clients on a fixed schedule; \
          a relay in the same process, woken by appends or after each commit, or given what was committed where the \
          store can, or in another process, which polls. Of a message also the statements of clients and \
          relay together, and the CPU time of their processes. There is no limit to compare with.""",
          Latencies::latency);

  static final Scenario HELD =
      new Scenario(
          "held",
          """
          From when a commit has returned to the call of the publisher, with 2,000 transactions a second for 10 minutes: \
          4 clients and a relay in the same process, which is woken by appends. Beside nothing, and beside a \
          transaction that has appended a message and stays open all the time. In each fifth, with the CPU time of a \
          message. There is no limit to compare with.""",
          Latencies::held);

  static final Scenario IDLE =
      new Scenario(
          "idle",
          """
          A relay with defaults in a process of its own, to Kafka, after a last message and a time of nothing \
          (a minute at full scale): statements (on MongoDB commands) a second, counted in that process, commits not, and CPU time of that \
          process. There is no limit to compare with.""",
          Latencies::idle);

  private Latencies() {}

  private static void latency(Bench bench) throws Exception {
    for (Woken woken : Woken.values()) {
      latency(bench, bench.database(), woken);
    }
  }

  private static <T> void latency(Bench bench, BenchDatabase<T> database, Woken woken)
      throws Exception {
    database.empty(Side.OURS);
    WorkCounter counter = new WorkCounter();
    try (KafkaBroker topic = bench.topic();
        Access<T> clients = database.open(CLIENTS, counter)) {
      if (woken == Woken.NOT) {
        Ledger<Pod> ledger = new Ledger<>();
        try (Pod other = Pod.ofRelay(database, topic, ledger)) {
          measure(bench, woken, clients::business, ledger, counter, other::work);
        }
        return;
      }
      if (woken == Woken.HANDED_OVER
          && !(clients.store() instanceof KeepingStore<?> able && able.handsOver())) {
        return;
      }
      Ledger<String> ledger = new Ledger<>();
      int connections = BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS);
      try (Access<T> access = database.open(connections, counter);
          Stamps stamps = Stamps.into(ledger, topic.measured());
          Relay relay = Relay.builder(access.store(), stamps).build()) {
        relay.start();
        measure(
            bench,
            woken,
            () -> clients.business(relay, access.store(), woken),
            ledger,
            counter,
            Work::nothing);
      }
    }
  }

  /**
   * @param client makes one
   * @param counter of what is done in this process
   * @param work of other processes
   */
  private static void measure(
      Bench bench,
      Woken woken,
      Supplier<? extends Business<?>> client,
      Ledger<?> ledger,
      WorkCounter counter,
      Callable<Work> work)
      throws Exception {
    List<? extends Business<?>> clients = Stream.generate(client).limit(CLIENTS).toList();
    try {
      for (int rate : RATES) {
        String name = "%,d/s, %s".formatted(rate, woken.label);
        String commit = name + ", commit to ";
        for (int run = 0; run <= bench.runs(); run++) {
          bench.say(name, run);
          Duration time = bench.scaled(run == 0 ? WARM_UP : TIME);
          Step load = () -> OpenLoad.run(clients, rate, time, ledger);
          OpenRun done = OpenRun.of(bench, ledger, load, counter, work);
          if (run > 0) {
            OpenRun.report(bench, commit + "publisher", done.called(), PERCENTILES);
            OpenRun.report(bench, commit + "acknowledgement", done.acknowledged(), PERCENTILES);
            done.reportCost(bench, name);
          }
        }
      }
    } finally {
      clients.forEach(Business::close);
    }
  }

  private static void held(Bench bench) throws Exception {
    held(bench, bench.database(), "nothing", null);
    held(bench, bench.database(), "one that has appended", Pin.APPENDER);
  }

  private static <T> void held(
      Bench bench, BenchDatabase<T> database, String beside, @Nullable Pin pin) throws Exception {
    for (int run = 1; run <= bench.runs(); run++) {
      database.empty(Side.OURS);
      Ledger<String> ledger = new Ledger<>();
      WorkCounter counter = new WorkCounter();
      try (Access<T> clients = database.open(CLIENTS, counter);
          Access<T> access =
              database.open(BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS), counter);
          Relay relay = Relay.builder(access.store(), Stamps.into(ledger, Drain.NO_OP)).build()) {
        relay.start();
        List<? extends Business<?>> business =
            IntStream.range(0, CLIENTS)
                .mapToObj(i -> clients.business(relay, access.store(), Woken.BY_APPENDS))
                .toList();
        bench.say(beside, "warm-up " + run);
        OpenRun ignored =
            OpenRun.of(
                bench,
                ledger,
                () -> OpenLoad.run(business, HELD_RATE, bench.scaled(WARM_UP), ledger),
                counter,
                Work::nothing);
        try (AutoCloseable held = pin == null ? () -> {} : database.pin(pin)) {
          for (int part = 1; part <= PARTS; part++) {
            bench.say(beside, "run %d, part %d".formatted(run, part));
            Duration fifth = bench.scaled(HELD_TIME.dividedBy(PARTS));
            OpenRun done =
                OpenRun.of(
                    bench,
                    ledger,
                    () -> OpenLoad.run(business, HELD_RATE, fifth, ledger),
                    counter,
                    Work::nothing);
            String name = "beside %s, fifth %d".formatted(beside, part);
            OpenRun.report(bench, name, done.called(), HELD_PERCENTILES);
            done.reportCost(bench, name);
          }
        }
        business.forEach(Business::close);
      }
    }
  }

  private static void idle(Bench bench) throws Exception {
    bench.database().empty(Side.OURS);
    Duration before = bench.scaled(BEFORE_IDLE);
    Duration time = bench.scaled(IDLE_TIME);
    Ledger<Pod> ledger = new Ledger<>();
    String requests = bench.database().requests();
    try (KafkaBroker topic = bench.topic();
        Access<?> access = bench.database().open(1);
        Business<?> client = access.business();
        Pod relay = Pod.ofRelay(bench.database(), topic, ledger)) {
      client.transaction(Append.OUTBOX, List.of(OpenLoad.message(1)));
      while (ledger.published() == 0) {
        Work ignored = relay.work();
        Thread.sleep(10);
      }
      bench.say(before + " of nothing");
      Thread.sleep(before.toMillis());
      for (int run = 1; run <= bench.runs(); run++) {
        bench.say("run %d of %d".formatted(run, bench.runs()));
        Work first = relay.work();
        long begin = System.nanoTime();
        Thread.sleep(time.toMillis());
        Work last = relay.work();
        double seconds = (System.nanoTime() - begin) / 1e9;
        double statements = last.statements() - first.statements();
        bench.report(requests, requests + "/s", statements / seconds);
        double cpu = last.cpuNanos() - first.cpuNanos();
        bench.report("CPU", "% of a core", cpu / 1e7 / seconds);
      }
    }
  }
}
