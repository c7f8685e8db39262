package dev.outbox.ui;

import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import java.time.Duration;
import java.time.Instant;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The figures, read for all viewers together, and only while somebody looks; some are kept for an
 * hour.
 */
final class Readings {
  static final Duration SAMPLED = Duration.ofSeconds(10);
  private static final Duration FRESH = Duration.ofSeconds(2);
  private static final Duration KEPT = Duration.ofHours(1);

  /** The most keys that the first page names. */
  private static final int MOST_KEYS = 5;

  private final Source source;
  private final Lock reading = new ReentrantLock();
  private final Deque<Sample> samples = new ConcurrentLinkedDeque<>();
  private volatile @Nullable Reading last;

  Readings(Source source) {
    this.source = source;
  }

  /** What was there at a time, by this machine's clock. */
  record Sample(Instant at, Statistics statistics) {}

  /**
   * All that the first page says.
   *
   * @param before a sample from {@link #SAMPLED} before or longer; null: there is none
   * @param leases nothing: the store cannot say
   * @param halted some of the keys that are halted
   * @param retried one of those that wait for a retry
   */
  record Reading(
      Instant at,
      Statistics statistics,
      @Nullable Sample before,
      Optional<List<WorkerLease>> leases,
      List<String> warnings,
      List<WaitingKey> halted,
      Optional<WaitingKey> retried) {}

  List<Sample> samples() {
    return List.copyOf(samples);
  }

  /** While somebody else reads, this is what was read before: a slow database keeps one thread. */
  Reading read() {
    Reading known = last;
    if (known == null) {
      reading.lock();
    } else if (isFresh(known) || !reading.tryLock()) {
      return known;
    }
    try {
      Reading newest = last;
      if (newest == null || !isFresh(newest)) {
        newest = read(source.clock().instant());
        last = newest;
        sample(new Sample(newest.at(), newest.statistics()));
      }
      return newest;
    } finally {
      reading.unlock();
    }
  }

  private boolean isFresh(Reading one) {
    return Duration.between(one.at(), source.clock().instant()).abs().compareTo(FRESH) <= 0;
  }

  private Reading read(Instant now) {
    Statistics statistics = source.figures().statistics(StatisticsStore.DEFAULT_CAP);
    return new Reading(
        now,
        statistics,
        samples.stream()
            .filter(sample -> !sample.at().plus(SAMPLED).isAfter(now))
            .reduce((first, second) -> second)
            .orElse(null),
        source.figures().leases(),
        source.figures().warnings().stream().map(source.mask()).toList(),
        statistics.haltedKeys() > 0 ? keys(true) : List.of(),
        statistics.blockedKeys() > 0 ? keys(false).stream().findFirst() : Optional.empty());
  }

  private List<WaitingKey> keys(boolean halted) {
    return source.messages().waitingKeys(halted, null, MOST_KEYS).found().stream()
        .filter(key -> key.halted() == halted)
        .toList();
  }

  private void sample(Sample sample) {
    Sample newest = samples.peekLast();
    if (newest == null || !newest.at().plus(SAMPLED).isAfter(sample.at())) {
      samples.add(sample);
      samples.removeIf(old -> old.at().plus(KEPT).isBefore(sample.at()));
    }
  }
}
