package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Pod.Work;
import dev.outbox.dev.broker.KafkaBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a relay costs that has nothing to do. */
final class IdleScenario extends Scenario {
  private static final Duration BEFORE = Duration.ofMinutes(1);
  private static final Duration TIME = Duration.ofSeconds(10);

  IdleScenario() {
    super(
        "idle",
        """
        A relay with defaults in a process of its own, to Kafka, after a last message and a time of nothing \
        (a minute at full scale): statements (on MongoDB commands) a second, counted in that process, commits not, and CPU time of that \
        process. There is no limit to compare with.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    bench.database().empty(Side.OURS);
    Duration before = bench.scaled(BEFORE);
    Duration time = bench.scaled(TIME);
    List<Double> statements = new ArrayList<>();
    List<Double> cpu = new ArrayList<>();
    try (KafkaBroker topic = bench.topic();
        Access<?> access = bench.database().open(1);
        Business client = access.business();
        Pod relay = Pod.ofRelay(bench.database(), topic)) {
      client.transaction(BenchDatabase.Append.OUTBOX, List.of(OpenLoad.message(1)));
      while (relay.stamps().isEmpty()) {
        Thread.sleep(10);
      }
      bench.progress("%s: %s of nothing".formatted(name(), before));
      Thread.sleep(before.toMillis());
      for (int run = 1; run <= bench.runs(); run++) {
        bench.progress("%s: run %d of %d".formatted(name(), run, bench.runs()));
        Work first = relay.work();
        long begin = System.nanoTime();
        Thread.sleep(time.toMillis());
        Work last = relay.work();
        double seconds = (System.nanoTime() - begin) / 1e9;
        statements.add((last.statements() - first.statements()) / seconds);
        cpu.add((last.cpuNanos() - first.cpuNanos()) / 1e7 / seconds);
      }
    }
    String requests = bench.database().requests();
    report(bench, requests, requests + "/s", statements);
    report(bench, "CPU", "% of a core", cpu);
  }
}
