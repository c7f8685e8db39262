package dev.outbox.ui;

import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.StatisticsStore;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The figures, read for all viewers together, and only while somebody looks; some are kept for an
 * hour.
 */
final class Readings {
  private static final Duration FRESH = Duration.ofSeconds(2);
  private static final Duration KEPT = Duration.ofHours(1);

  private final Source source;
  private final Lock reading = new ReentrantLock();
  private final Deque<Diagnosis> samples = new ConcurrentLinkedDeque<>();
  private final AtomicLong changes = new AtomicLong();
  private volatile @Nullable Known last;

  Readings(Source source) {
    this.source = source;
  }

  /** A reading, and how many changes there had been when it began. */
  private record Known(Diagnosis reading, long changes) {}

  List<Diagnosis> samples() {
    return List.copyOf(samples);
  }

  /** While somebody else reads, this is what was read before: a slow database keeps one thread. */
  Diagnosis read() {
    Diagnosis known = known();
    if (known == null) {
      reading.lock();
    } else if (isFresh(known) || !reading.tryLock()) {
      return known;
    }
    try {
      Diagnosis newest = known();
      if (newest == null || !isFresh(newest)) {
        long before = changes.get();
        newest =
            Diagnosis.of(
                source.figures(), StatisticsStore.DEFAULT_CAP, source.clock().instant(), samples);
        last = new Known(newest, before);
        sample(newest);
      }
      return newest;
    } finally {
      reading.unlock();
    }
  }

  /** The next is read anew, also where one is under way: something was changed. */
  void forget() {
    changes.incrementAndGet();
  }

  /** Null when it is from before a change. */
  private @Nullable Diagnosis known() {
    Known newest = last;
    return newest == null || newest.changes != changes.get() ? null : newest.reading;
  }

  private boolean isFresh(Diagnosis one) {
    return Duration.between(one.at(), source.clock().instant()).abs().compareTo(FRESH) <= 0;
  }

  private void sample(Diagnosis sample) {
    Diagnosis newest = samples.peekLast();
    if (newest == null || !newest.at().plus(Diagnosis.APART).isAfter(sample.at())) {
      samples.add(sample);
      samples.removeIf(old -> old.at().plus(KEPT).isBefore(sample.at()));
    }
  }
}
