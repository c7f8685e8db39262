package dev.outbox.publisher.http;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What follows from the publisher's timeout.
 *
 * @param call until a call gives up on what is still open
 * @param request until a request and its answer are whole; no request begins that could not be
 *     whole before the call gives up
 */
record Timing(Duration call, Duration request) {
  private static final Duration SHORTEST_REQUEST = Duration.ofMillis(100);
  private static final Duration SHORTEST_PATIENCE = Duration.ofMillis(250);

  /** How long a call waits where the last one waited in vain: long enough for who is well again. */
  static final Duration IMPATIENCE = Duration.ofMillis(50);

  /**
   * @param request null: half of the timeout
   */
  static Timing of(Duration timeout, @Nullable Duration request) {
    Duration most = TimeLimits.timeout(timeout).multipliedBy(4).dividedBy(5);
    return new Timing(
        timeout.multipliedBy(9).dividedBy(10),
        request == null
            ? timeout.dividedBy(2)
            : TimeLimits.check("requestTimeout", request, SHORTEST_REQUEST, most));
  }

  /** Until a request's answer begins. */
  Duration head() {
    return request.multipliedBy(4).dividedBy(5);
  }

  /** How long a call waits for a request that keeps all other results. */
  Duration patience() {
    Duration part = request.dividedBy(20);
    return part.compareTo(SHORTEST_PATIENCE) < 0 ? SHORTEST_PATIENCE : part;
  }

  /** From the begin of an answer to its end. */
  Duration body() {
    return request.dividedBy(5);
  }
}
