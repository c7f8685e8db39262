package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.BenchClient;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.Woken;
import dev.outbox.dev.bench.Pod.Usage;
import dev.outbox.dev.bench.Throughput.Step;
import dev.outbox.dev.common.Ledger;
import dev.outbox.relay.Relay;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What becomes of latency while somebody holds a transaction open. */
final class HeldScenario {
  private static final int RATE = 2_000;
  private static final double[] PERCENTILES = {50, 99};
  private static final int CLIENTS = 4;
  private static final int PARTS = 5;
  private static final Duration TIME = Duration.ofMinutes(10);

  private HeldScenario() {}

  static void run(Bench bench) throws Exception {
    run(bench, bench.database(), "nothing", null);
    run(bench, bench.database(), "one that has appended", Pin.APPENDER);
  }

  private static <T> void run(
      Bench bench, BenchDatabase<T> database, String beside, @Nullable Pin pin) throws Exception {
    for (int run = 1; run <= bench.runs(); run++) {
      database.empty(Side.OURS);
      Ledger<String> ledger = new Ledger<>();
      WorkCounter counter = new WorkCounter();
      int connections = BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS);
      try (Access<T> clients = database.open(CLIENTS, counter);
          Access<T> access = database.open(connections, counter);
          Relay relay = Relay.builder(access.store(), Stamps.into(ledger, Drain.NO_OP)).build()) {
        relay.start();
        List<BenchClient<T>> business =
            Stream.generate(() -> clients.business(relay, access.store(), Woken.BY_APPENDS))
                .limit(CLIENTS)
                .toList();
        bench.say(beside, "warm-up " + run);
        OpenLoad ignored = measure(bench, business, LatencyScenario.WARM_UP, ledger, counter);
        try (AutoCloseable held = pin == null ? () -> {} : database.pin(pin)) {
          for (int part = 1; part <= PARTS; part++) {
            bench.say(beside, "run %d, part %d".formatted(run, part));
            OpenLoad done = measure(bench, business, TIME.dividedBy(PARTS), ledger, counter);
            String name = "beside %s, fifth %d".formatted(beside, part);
            OpenLoad.report(bench, name, done.called(), PERCENTILES);
            done.reportCost(bench, name);
          }
        }
        business.forEach(BenchClient::close);
      }
    }
  }

  private static OpenLoad measure(
      Bench bench,
      List<? extends BenchClient<?>> clients,
      Duration time,
      Ledger<String> ledger,
      WorkCounter counter)
      throws Exception {
    Duration scaled = bench.scaled(time);
    Step load = () -> OpenLoad.run(clients, RATE, scaled, ledger);
    return OpenLoad.measure(bench, ledger, load, counter, () -> Usage.NOTHING);
  }
}
