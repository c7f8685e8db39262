package dev.outbox.relay;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** A pause that doubles from a first to a longest one, with jitter. For one thread. */
final class Backoff {
  private final long first;
  private final long longest;
  private final DoubleSupplier random;
  private long next;

  Backoff(Duration first, Duration longest) {
    this(first, longest, () -> ThreadLocalRandom.current().nextDouble());
  }

  /**
   * @param random gives 0 to 1; takes up to half of each pause off, so that workers spread
   */
  Backoff(Duration first, Duration longest, DoubleSupplier random) {
    this.first = Math.min(first.toNanos(), longest.toNanos());
    this.longest = longest.toNanos();
    this.random = random;
    this.next = this.first;
  }

  /** The pause to make now, in nanoseconds; at least 1. */
  long next() {
    long pause = next;
    next = Math.min(longest, next * 2);
    return Math.max(1, (long) (pause * (1 - random.getAsDouble() / 2)));
  }

  /** The most that the next pause may be, in nanoseconds. */
  long most() {
    return next;
  }

  void reset() {
    next = first;
  }
}
