package dev.outbox.publisher.handler;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;

/**
 * What follows from the publisher's timeout.
 *
 * @param call until a call returns
 * @param handler until a handler is interrupted; none begins that could be interrupted after the
 *     call
 * @param patience how long a call waits for a handler that keeps all other results
 */
record Timing(Duration call, Duration handler, Duration patience) {
  /** How long a call waits for a handler that took too long the last time. */
  static final Duration IMPATIENCE = Duration.ofMillis(50);

  static Timing of(Duration timeout) {
    TimeLimits.timeout(timeout);
    return new Timing(
        timeout.multipliedBy(9).dividedBy(10), timeout.dividedBy(2), timeout.dividedBy(20));
  }
}
