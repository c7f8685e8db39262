package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.BenchDatabase.Woken;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.relay.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** How long messages take while a transaction stays open that has appended a message itself. */
final class HeldScenario extends Scenario {
  private static final int RATE = 2_000;
  private static final int CLIENTS = 4;
  private static final int PARTS = 5;
  private static final Duration TIME = Duration.ofMinutes(10);
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final double[] PERCENTILES = {50, 99};

  HeldScenario() {
    super(
        "held",
        """
        From when a commit has returned to the call of the publisher, with 2,000 transactions a second for 10 minutes: \
        4 clients and a relay in the same process, which is woken by appends. Beside nothing, and beside a \
        transaction that has appended a message and stays open all the time. In each fifth, with the CPU time of a \
        message. There is no limit to compare with.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    measure(bench, bench.database(), "nothing", null);
    measure(bench, bench.database(), "one that has appended", Pin.APPENDER);
  }

  private <T> void measure(Bench bench, BenchDatabase<T> database, String beside, @Nullable Pin pin)
      throws Exception {
    List<List<OpenRun>> parts = new ArrayList<>();
    IntStream.range(0, PARTS).forEach(part -> parts.add(new ArrayList<>()));
    for (int run = 1; run <= bench.runs(); run++) {
      database.empty(Side.OURS);
      WorkCounter counter = new WorkCounter();
      try (Access<T> clients = database.open(CLIENTS, counter);
          Access<T> access =
              database.open(BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS), counter);
          Stamps stamps = new Stamps(Drain.NO_OP);
          Relay relay = Relay.builder(access.store(), stamps).build()) {
        relay.start();
        List<Business> business =
            IntStream.range(0, CLIENTS)
                .mapToObj(i -> clients.business(relay, access.store(), Woken.BY_APPENDS))
                .toList();
        say(bench, beside, "warm-up " + run);
        OpenRun ignored =
            OpenRun.of(
                bench,
                () -> OpenLoad.run(business, RATE, bench.scaled(WARM_UP)),
                counter,
                stamps::take,
                Work::nothing);
        try (AutoCloseable held = pin == null ? () -> {} : database.pin(pin)) {
          for (int part = 0; part < PARTS; part++) {
            say(bench, beside, "run %d, part %d".formatted(run, part + 1));
            parts
                .get(part)
                .add(
                    OpenRun.of(
                        bench,
                        () -> OpenLoad.run(business, RATE, bench.scaled(TIME.dividedBy(PARTS))),
                        counter,
                        stamps::take,
                        Work::nothing));
          }
        }
        business.forEach(Business::close);
      }
    }
    for (int part = 0; part < PARTS; part++) {
      String name = "beside %s, fifth %d".formatted(beside, part + 1);
      OpenRun.reportTimes(bench, this, name, parts.get(part), OpenRun::called, PERCENTILES);
      OpenRun.reportCost(bench, this, name, parts.get(part));
    }
  }
}
