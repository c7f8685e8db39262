package dev.outbox.dev.bench;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.bench.Stamps.Stamp;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How long a message takes from its commit to the publisher, and to Kafka's acknowledgement. */
final class LatencyScenario extends Scenario {
  private static final int[] RATES = {200, 2_000};
  private static final double[] PERCENTILES = {50, 99, 99.9};
  private static final int CLIENTS = 4;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration TIME = Duration.ofSeconds(20);

  /** Who tells the relay that there is something. */
  private enum Woken {
    BY_APPENDS("same process, woken by appends"),
    AFTER_COMMITS("same process, woken after commits"),
    NOT("another process"),
    HANDED_OVER("same process, handed over");

    private final String name;

    Woken(String name) {
      this.name = name;
    }
  }

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
    boolean handsOver;
    try (Access access = bench.database().open(1)) {
      handsOver = access.store() instanceof KeepingStore<?> able && able.handsOver();
    }
    for (Woken woken : Woken.values()) {
      if (woken == Woken.HANDED_OVER && !handsOver) {
        continue;
      }
      bench.database().empty(Side.OURS);
      WorkCounter counter = new WorkCounter();
      try (KafkaBroker topic = bench.topic();
          Access clients = bench.database().open(CLIENTS, counter)) {
        if (woken == Woken.NOT) {
          try (Pod other = Pod.ofRelay(bench.database(), topic)) {
            measure(
                bench,
                woken.name,
                clients(clients, woken, null, null),
                counter,
                other::stamps,
                other::work);
          }
        } else {
          try (Access access =
                  bench
                      .database()
                      .open(BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS), counter);
              Stamps stamps = new Stamps(topic.measured());
              Relay relay = Relay.builder(access.store(), stamps).build()) {
            relay.start();
            measure(
                bench,
                woken.name,
                clients(clients, woken, relay, access.store()),
                counter,
                stamps::take,
                Work::nothing);
          }
        }
      }
    }
  }

  private static List<Business> clients(
      Access access, Woken woken, @Nullable Relay relay, @Nullable OutboxStore<?> store) {
    if (woken == Woken.HANDED_OVER) {
      return IntStream.range(0, CLIENTS)
          .mapToObj(i -> access.handing(requireNonNull(relay), requireNonNull(store)))
          .toList();
    }
    return IntStream.range(0, CLIENTS)
        .mapToObj(
            i ->
                woken == Woken.AFTER_COMMITS && relay != null
                    ? new Waking(access.business(), relay)
                    : access.business(relay))
        .toList();
  }

  /** As applications do it that know when a transaction is committed. */
  private record Waking(Business business, Relay relay) implements Business {
    @Override
    public void transaction(Append append, List<OutboxMessage> messages) {
      business.transaction(append, messages);
      relay.wake();
    }

    @Override
    public void consume(@Nullable InboxKey key) {
      business.consume(key);
    }

    @Override
    public void close() {
      business.close();
    }
  }

  /**
   * @param counter of what is done in this process
   * @param work of other processes
   */
  private void measure(
      Bench bench,
      String where,
      List<Business> clients,
      WorkCounter counter,
      Callable<Map<UUID, Stamp>> stamps,
      Callable<Work> work)
      throws Exception {
    try {
      for (int rate : RATES) {
        String name = "%,d/s, %s".formatted(rate, where);
        List<OpenRun> runs = new ArrayList<>();
        for (int run = 0; run <= bench.runs(); run++) {
          boolean warmUp = run == 0;
          say(bench, name, run);
          OpenRun done =
              OpenRun.of(
                  bench,
                  () -> OpenLoad.run(clients, rate, bench.scaled(warmUp ? WARM_UP : TIME)),
                  counter,
                  stamps,
                  work);
          if (!warmUp) {
            runs.add(done);
          }
        }
        OpenRun.reportTimes(
            bench, name(), name + ", commit to publisher", runs, OpenRun::called, PERCENTILES);
        OpenRun.reportTimes(
            bench,
            name(),
            name + ", commit to acknowledgement",
            runs,
            OpenRun::acknowledged,
            PERCENTILES);
        OpenRun.reportCost(bench, name(), name, runs);
      }
    } finally {
      clients.forEach(Business::close);
    }
  }
}
