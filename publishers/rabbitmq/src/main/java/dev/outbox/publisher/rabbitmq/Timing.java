package dev.outbox.publisher.rabbitmq;

import dev.outbox.Texts;
import dev.outbox.publisher.core.Places;
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

  static final Duration SHORTEST = Duration.ofSeconds(1);
  static final Duration LONGEST = Duration.ofHours(1);

  static Timing of(Duration timeout) {
    if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "timeout is %s, allowed is from %s to %s"
              .formatted(Texts.time(timeout), Texts.time(SHORTEST), Texts.time(LONGEST)));
    }
    long t = timeout.toNanos();
    return new Timing(t / 100 * 85, t / 100 * 90, t / 4, t / 4, t / 20, t / 8);
  }

  /** As a quorum queue that has lost its majority; and what is lost is forgotten in the end. */
  Places<Place> places() {
    return new Places<>(patience, impatience, FORGET * patience);
  }

  static int millis(long nanos) {
    return (int) (nanos / 1_000_000);
  }
}
