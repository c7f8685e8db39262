package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;

/**
 * What follows from the publisher's timeout; all in nanoseconds.
 *
 * @param timeout in which publish returns
 * @param deadline when a call gives up on what is still open
 * @param patience how long a topic may take that does not acknowledge while the broker answers
 * @param impatience the same for a topic that took too long the last time
 * @param caution how long a topic is risky after a record failed that others of its key were behind
 * @param silence a broker that was not heard for so long does not answer
 */
record Timing(
    long timeout, long deadline, long patience, long impatience, long caution, long silence) {

  static Timing of(Duration timeout) {
    long t = TimeLimits.timeout(timeout).toNanos();
    return new Timing(t, t / 10 * 9, t / 4, t / 20, t / 2, t / 20 * 3);
  }

  static int millis(long nanos) {
    return (int) (nanos / 1_000_000);
  }
}
