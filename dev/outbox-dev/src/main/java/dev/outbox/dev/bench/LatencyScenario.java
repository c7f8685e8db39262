package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.Woken;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** How long a message takes from its commit to the publisher, and to Kafka's acknowledgement. */
final class LatencyScenario extends Scenario {
  private static final int[] RATES = {200, 2_000};
  private static final double[] PERCENTILES = {50, 99, 99.9};
  private static final int CLIENTS = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);

  LatencyScenario() {
    super(
        "latency",
        """
        From when a commit has returned to the call of the publisher, and to the end of that call, when Kafka has \
        acknowledged all of it. Transactions with one message of 200 bytes, 10,000 keys, 4 clients on a fixed schedule; \
        a relay in the same process, woken by appends or after each commit, or given what was committed where the \
        store can, or in another process, which polls. Of a message also the statements of clients and \
        relay together, and the CPU time of their processes. There is no limit to compare with.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    for (Woken woken : Woken.values()) {
      run(bench, bench.database(), woken);
    }
  }

  private <T> void run(Bench bench, BenchDatabase<T> database, Woken woken) throws Exception {
    database.empty(Side.OURS);
    WorkCounter counter = new WorkCounter();
    try (KafkaBroker topic = bench.topic();
        Access<T> clients = database.open(CLIENTS, counter)) {
      if (woken == Woken.NOT) {
        try (Pod other = Pod.ofRelay(database, topic)) {
          measure(bench, woken, clients::business, counter, other::stamps, other::work);
        }
        return;
      }
      if (woken == Woken.HANDED_OVER
          && !(clients.store() instanceof KeepingStore<?> able && able.handsOver())) {
        return;
      }
      int connections = BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS);
      try (Access<T> access = database.open(connections, counter);
          Stamps stamps = new Stamps(topic.measured());
          Relay relay = Relay.builder(access.store(), stamps).build()) {
        relay.start();
        measure(
            bench,
            woken,
            () -> clients.business(relay, access.store(), woken),
            counter,
            stamps::take,
            Work::nothing);
      }
    }
  }

  /**
   * @param client makes one
   * @param counter of what is done in this process
   * @param work of other processes
   */
  private void measure(
      Bench bench,
      Woken woken,
      Supplier<Business> client,
      WorkCounter counter,
      Callable<Map<UUID, Stamp>> stamps,
      Callable<Work> work)
      throws Exception {
    List<Business> clients = Stream.generate(client).limit(CLIENTS).toList();
    try {
      for (int rate : RATES) {
        String name = "%,d/s, %s".formatted(rate, woken.label);
        List<OpenRun> runs = new ArrayList<>();
        for (int run = 0; run <= bench.runs(); run++) {
          say(bench, name, run);
          Duration time = bench.scaled(run == 0 ? WARM_UP : TIME);
          runs.add(
              OpenRun.of(bench, () -> OpenLoad.run(clients, rate, time), counter, stamps, work));
        }
        runs.remove(0);
        String commit = name + ", commit to ";
        OpenRun.reportTimes(bench, this, commit + "publisher", runs, OpenRun::called, PERCENTILES);
        OpenRun.reportTimes(
            bench, this, commit + "acknowledgement", runs, OpenRun::acknowledged, PERCENTILES);
        OpenRun.reportCost(bench, this, name, runs);
      }
    } finally {
      clients.forEach(Business::close);
    }
  }
}
