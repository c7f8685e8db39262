package dev.outbox.dev.bench;

import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;

/** Several relays on one database. */
final class RelaysScenario implements Scenario {
  private static final int[] RELAYS = {1, 2, 4, 8};

  @Override
  public String name() {
    return "relays";
  }

  @Override
  public String what() {
    return """
        As drain with 10,000 keys, by several relays with one worker and a pool each; \
        they know nothing of each other, but run in one process. Limit: as many loops, with a pool each.""";
  }

  @Override
  public void run(Bench bench) throws Exception {
    Load load = Load.of(bench.scaled(DrainScenario.MESSAGES), DrainScenario.MANY_KEYS);
    Throughput throughput = new Throughput(bench, name(), Part.WHOLE);
    for (int relays : RELAYS) {
      throughput.add(
          new Case(
              DrainScenario.count(relays, "relay"),
              bench.database(),
              relays,
              2,
              1,
              Fills.ours(bench.database(), load, 1),
              Fills.limit(bench.database(), load, 1)));
    }
    throughput.measure();
    for (int i = 1; i < RELAYS.length; i++) {
      throughput.compare(i, 0, DrainScenario.count(RELAYS[i], "relay") + ", beside one of ours");
    }
  }
}
