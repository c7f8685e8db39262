package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import java.util.List;
import java.util.Locale;

/** What an archive costs: a relay that keeps one, beside the same relay without. */
final class ArchiveScenario extends Scenario {
  private static final int[] WORKERS = {1, 4};

  ArchiveScenario() {
    super(
        "archive",
        """
        200,000 messages of 200 bytes and 10,000 keys drained into an archive of metadata, and into a full one, \
        by one relay whose publisher takes everything at once and answers each. Limit: the same relay by turns, \
        whose store keeps no archive.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    Throughput throughput = new Throughput(bench, this, Part.WHOLE);
    Load load = new Load(bench.scaled(DrainScenario.MESSAGES), DrainScenario.MANY_KEYS);
    for (Archive archive : List.of(Archive.METADATA, Archive.FULL)) {
      for (int workers : WORKERS) {
        throughput.add(
            new Case(
                archive.name().toLowerCase(Locale.ROOT)
                    + ", "
                    + DrainScenario.count(workers, "worker"),
                BenchDatabase.connections(workers),
                Fill.archived(bench.database(), load, workers, archive),
                Fill.archived(bench.database(), load, workers, Archive.NONE)));
      }
    }
    throughput.measure();
  }
}
