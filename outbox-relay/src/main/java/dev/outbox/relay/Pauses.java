package dev.outbox.relay;

import java.time.Duration;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * How long to wait after a poll that brought nothing. While there was work lately, it is a few
 * milliseconds at most. After that it is a fixed part of the time without work, up to the idle
 * pause. So a message in a burst hardly waits, and one after an hour of nothing waits for the idle
 * pause at most. Work that was announced needs no polls and counts as none. Not safe for use by
 * many threads.
 */
final class Pauses {
  static final Duration FIRST = Duration.ofMillis(1);

  /** The longest while there is work. */
  static final Duration LIVELY = Duration.ofMillis(14);

  /** A pause is at most this part of the time since there was work. */
  static final int PART = 50;

  private final long idlePause;
  private final DoubleSupplier random;
  private final LongSupplier clock;
  private long next;
  private long workedAt;

  /**
   * @param random gives 0 to 1; takes up to a fifth of each pause off, so that relays spread
   * @param clock in nanoseconds, from anywhere
   */
  Pauses(Duration idlePause, DoubleSupplier random, LongSupplier clock) {
    this.idlePause = idlePause.toNanos();
    this.random = random;
    this.clock = clock;
    worked();
  }

  /** There was work: pauses begin small. */
  void worked() {
    workedAt = clock.getAsLong();
    next = FIRST.toNanos();
  }

  /** There may be work soon: pauses begin small once more. */
  void expectWork() {
    next = FIRST.toNanos();
  }

  /** The pause to make now, in nanoseconds; at least 1. */
  long next() {
    long idleFor = clock.getAsLong() - workedAt;
    long longest = Math.min(idlePause, Math.max(LIVELY.toNanos(), idleFor / PART));
    long pause = Math.min(next, longest);
    next = Math.min(idlePause, pause * 2);
    return Math.max(1, (long) (pause * (1 - random.getAsDouble() / 5)));
  }
}
