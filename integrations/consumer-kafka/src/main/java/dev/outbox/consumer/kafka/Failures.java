package dev.outbox.consumer.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** For each partition, the record that failed and is to be tried again. For one thread. */
final class Failures {
  private final Duration firstDelay;
  private final Duration maxDelay;
  private final Map<TopicPartition, Failure> failures = new HashMap<>();

  /**
   * A record that failed.
   *
   * @param tries how often
   * @param faults how often the record was to blame
   * @param delay until the next try
   * @param due when that is, by {@link System#nanoTime}
   */
  record Failure(long offset, int tries, int faults, Duration delay, long due) {
    long nanosLeft() {
      return Math.max(0, due - System.nanoTime());
    }
  }

  Failures(Duration firstDelay, Duration maxDelay) {
    this.firstDelay = firstDelay;
    this.maxDelay = maxDelay;
  }

  /**
   * @param ofRecord whether the record is to blame
   */
  Failure add(TopicPartition partition, long offset, boolean ofRecord) {
    Failure last = failures.get(partition);
    int tries = 1;
    int faults = ofRecord ? 1 : 0;
    if (last != null && last.offset() == offset) {
      tries += last.tries();
      faults += last.faults();
    }
    Duration delay = delay(tries);
    Failure failure =
        new Failure(offset, tries, faults, delay, System.nanoTime() + delay.toNanos());
    failures.put(partition, failure);
    return failure;
  }

  /** How often the record was to blame. */
  int faults(TopicPartition partition, long offset) {
    Failure failure = failures.get(partition);
    return failure != null && failure.offset() == offset ? failure.faults() : 0;
  }

  /** The delay after this many failed tries. */
  Duration delay(int tries) {
    Duration delay = firstDelay;
    for (int i = 1; i < tries && delay.compareTo(maxDelay) < 0; i++) {
      delay = delay.multipliedBy(2);
    }
    return delay.compareTo(maxDelay) < 0 ? delay : maxDelay;
  }

  void forget(TopicPartition partition) {
    failures.remove(partition);
  }

  /** The partitions whose record may be tried again now. */
  List<TopicPartition> due() {
    return failures.entrySet().stream()
        .filter(e -> e.getValue().nanosLeft() == 0)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The time until the next record is due, but at most this time. */
  Duration untilNext(Duration most) {
    return failures.values().stream()
        .map(failure -> Duration.ofNanos(failure.nanosLeft()))
        .filter(left -> !left.isZero())
        .reduce(most, (one, other) -> one.compareTo(other) < 0 ? one : other);
  }
}
