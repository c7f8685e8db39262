package dev.outbox.publisher.nats;

import dev.outbox.Texts;
import java.time.Duration;

/**
 * What follows from the publisher's timeout; all in nanoseconds.
 *
 * @param timeout in which publish returns
 * @param call when a call gives up on what is still open
 * @param patience how long a message may be without an acknowledgement before the server is asked
 *     whether it is still there; also for a connection to be made
 * @param impatience the same for a place that took too long the last time
 * @param pause between two tries of such a place
 * @param connect how long the client may take for a connection: less than the patience, because it
 *     takes so long too to say that a password is wrong
 * @param sign how long the server may take for a sign of life
 */
record Timing(
    long timeout, long call, long patience, long impatience, long pause, long connect, long sign) {
  static final Duration SHORTEST = Duration.ofSeconds(1);
  static final Duration LONGEST = Duration.ofHours(1);

  static Timing of(Duration timeout) {
    if (timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "timeout is %s, allowed is from %s to %s"
              .formatted(Texts.time(timeout), Texts.time(SHORTEST), Texts.time(LONGEST)));
    }
    long t = timeout.toNanos();
    return new Timing(t, t / 10 * 9, t / 4, t / 20, t / 2, t / 6, t / 10);
  }
}
