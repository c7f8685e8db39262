package dev.outbox.cli;

import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Messages that nobody takes, as where a relay runs that lacks the rights to. */
final class Unattended {
  /** A relay takes what is free at once; its pauses in an outage of the broker are shorter. */
  private static final Duration LONG = Duration.ofMinutes(1);

  private Unattended() {}

  /** A sentence, where the oldest free message waits for long and no relay holds anything. */
  static Optional<String> warning(Statistics statistics, List<WorkerLease> leases) {
    Duration oldest = statistics.oldestFree();
    return oldest == null || oldest.compareTo(LONG) < 0 || !leases.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "the oldest message that is due waits %d s, and no relay holds anything: none runs, or its broker is away, or its user lacks the rights that ./outbox grants prints; its log says which"
                .formatted(oldest.toSeconds()));
  }
}
