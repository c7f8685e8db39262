package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;

/**
 * What follows from the publisher's timeout; all in nanoseconds.
 *
 * @param timeout in which publish returns
 * @param call when a call gives up on what is still open
 * @param patience how long a message may be without an acknowledgement before the server is asked
 *     whether it is still there; also for a connection to be made
 * @param impatience the same for a place that took too long the last time
 * @param pause how long nothing is sent to such a place while an acknowledgement may still come
 * @param connect how long the client may take for a connection: less than the patience, because it
 *     takes so long too to say that a password is wrong
 * @param sign how long the server may take for a sign of life
 */
record Timing(
    long timeout, long call, long patience, long impatience, long pause, long connect, long sign) {

  static Timing of(Duration timeout) {
    long t = TimeLimits.timeout(timeout).toNanos();
    return new Timing(t, t / 10 * 9, t / 4, t / 20, t / 2, t / 6, t / 10);
  }
}
