package dev.outbox.publisher.rabbitmq;

import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;

/**
 * What follows from the publisher's timeout; all in nanoseconds.
 *
 * @param deadline when a call gives up on what is still open
 * @param kill when the connection is ended on which a call still hangs
 * @param connect for each step of connecting
 * @param patience how long a destination may take that confirms nothing while the broker answers
 * @param impatience the same for a destination that took too long the last time
 * @param answer for the broker's answer to a question
 */
record Timing(long deadline, long kill, long connect, long patience, long impatience, long answer) {

  /** After so many times the patience, what was given up on is taken for lost. */
  private static final int FORGET = 20;

  static Timing of(Duration timeout) {
    long t = TimeLimits.timeout(timeout).toNanos();
    return new Timing(t / 100 * 85, t / 100 * 90, t / 4, t / 4, t / 20, t / 8);
  }

  /** As a quorum queue that has lost its majority; and what is lost is forgotten in the end. */
  SilentPlaces<Place> places() {
    return new SilentPlaces<>(patience, impatience, FORGET * patience);
  }

  static int millis(long nanos) {
    return (int) (nanos / 1_000_000);
  }
}
