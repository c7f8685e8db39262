package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.BenchClient;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.Woken;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.bench.Throughput.Step;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Ledger;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How long messages take to the publisher, by the ways in which a relay hears of them. */
final class LatencyScenario {
  private static final int[] RATES = {200, 2_000};
  private static final double[] PERCENTILES = {50, 99, 99.9};
  private static final int CLIENTS = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);

  private static final int HELD_RATE = 2_000;
  private static final double[] HELD_PERCENTILES = {50, 99};
  private static final int HELD_PARTS = 5;
  private static final Duration HELD_TIME = Duration.ofMinutes(10);

  private LatencyScenario() {}

  static void run(Bench bench) throws Exception {
    for (Woken woken : Woken.values()) {
      run(bench, bench.database(), woken);
    }
  }

  private static <T> void run(Bench bench, BenchDatabase<T> database, Woken woken)
      throws Exception {
    database.empty(Side.OURS);
    WorkCounter counter = new WorkCounter();
    try (KafkaBroker topic = bench.topic();
        Access<T> clients = database.open(CLIENTS, counter)) {
      if (woken == Woken.NOT) {
        Ledger<Pod> ledger = new Ledger<>();
        try (Pod other = new Pod(database, 1, 0, topic, ledger)) {
          other.awaitReady();
          measure(
              bench,
              woken,
              clients::business,
              ledger,
              () -> other.work().plus(Usage.here(counter)));
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
          Stamps stamps = Stamps.into(ledger, topic.publisher(null));
          Relay relay = Relay.builder(access.store(), stamps).build()) {
        relay.start();
        measure(
            bench,
            woken,
            () -> clients.business(relay, access.store(), woken),
            ledger,
            () -> Usage.here(counter));
      }
    }
  }

  /**
   * @param client makes one
   * @param work of all processes that take part
   */
  private static void measure(
      Bench bench,
      Woken woken,
      Supplier<? extends BenchClient<?>> client,
      Ledger<?> ledger,
      Supplier<Usage> work)
      throws Exception {
    List<? extends BenchClient<?>> clients = Stream.generate(client).limit(CLIENTS).toList();
    try {
      for (int rate : RATES) {
        String name = Draining.perSecond(rate) + ", " + woken.label;
        String commit = name + ", commit to ";
        for (int run = 0; run <= bench.runs(); run++) {
          bench.say(name, run);
          Duration time = run == 0 ? WARM_UP : TIME;
          OpenLoad done = measure(bench, clients, rate, time, ledger, work);
          if (run > 0) {
            OpenLoad.report(bench, commit + "publisher", done.called(), PERCENTILES);
            OpenLoad.report(bench, commit + "acknowledgement", done.acknowledged(), PERCENTILES);
            done.reportCost(bench, name);
          }
        }
      }
    } finally {
      clients.forEach(BenchClient::close);
    }
  }

  private static OpenLoad measure(
      Bench bench,
      List<? extends BenchClient<?>> clients,
      int rate,
      Duration time,
      Ledger<?> ledger,
      Supplier<Usage> work)
      throws Exception {
    Duration scaled = bench.scaled(time);
    Step load = () -> OpenLoad.run(clients, rate, scaled, ledger);
    return OpenLoad.measure(bench, ledger, load, work);
  }

  /** What becomes of latency while somebody holds a transaction open. */
  static void held(Bench bench) throws Exception {
    held(bench, bench.database(), "nothing", null);
    held(bench, bench.database(), "one that has appended", Pin.APPENDER);
  }

  private static <T> void held(
      Bench bench, BenchDatabase<T> database, String beside, @Nullable Pin pin) throws Exception {
    for (int run = 1; run <= bench.runs(); run++) {
      database.empty(Side.OURS);
      Ledger<String> ledger = new Ledger<>();
      WorkCounter counter = new WorkCounter();
      Supplier<Usage> work = () -> Usage.here(counter);
      int connections = BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS);
      try (Access<T> clients = database.open(CLIENTS, counter);
          Access<T> access = database.open(connections, counter);
          Relay relay = Relay.builder(access.store(), Stamps.into(ledger, Drain.NO_OP)).build()) {
        relay.start();
        List<BenchClient<T>> business =
            Stream.generate(() -> clients.business(relay, access.store(), Woken.AFTER_COMMITS))
                .limit(CLIENTS)
                .toList();
        try {
          bench.say(beside, "warm-up " + run);
          OpenLoad ignored = measure(bench, business, HELD_RATE, WARM_UP, ledger, work);
          try (AutoCloseable held = pin == null ? () -> {} : database.pin(pin)) {
            for (int part = 1; part <= HELD_PARTS; part++) {
              bench.say(beside, "run %s, part %s".formatted(run, part));
              Duration time = HELD_TIME.dividedBy(HELD_PARTS);
              OpenLoad done = measure(bench, business, HELD_RATE, time, ledger, work);
              String name = "beside %s, fifth %s".formatted(beside, part);
              OpenLoad.report(bench, name, done.called(), HELD_PERCENTILES);
              done.reportCost(bench, name);
            }
          }
        } finally {
          business.forEach(BenchClient::close);
        }
      }
    }
  }
}
