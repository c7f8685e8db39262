package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What follows from the publisher's timeout; all in nanoseconds.
 *
 * @param timeout in which publish returns
 * @param call when a call leaves what is still open
 * @param last when a call has stopped asking for a sign of life
 * @param connection how long a call waits for a connection to be made
 * @param patience how long a call may hear nothing of its messages before it asks
 * @param push how long a message waits for room in the client's queue
 * @param connect how long the client may take for a connection: less than a call waits for it,
 *     because it takes so long too to say that a password is wrong
 * @param sign how long the server may take for a sign of life
 */
record Timing(
    long timeout,
    long call,
    long last,
    long connection,
    long patience,
    long push,
    long connect,
    long sign) {
  private static final long SHORTEST_PATIENCE = TimeUnit.MILLISECONDS.toNanos(250);

  static Timing of(Duration timeout) {
    long t = TimeLimits.timeout(timeout).toNanos();
    return new Timing(
        t,
        t / 5 * 4,
        t / 20 * 19,
        t / 4,
        Math.max(SHORTEST_PATIENCE, t / 20),
        t / 40,
        t / 6,
        t / 10 * 3);
  }
}
