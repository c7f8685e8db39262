package dev.outbox.publisher.core;

import dev.outbox.Texts;
import java.time.Duration;

/** The times that a publisher takes as its timeouts. */
public final class TimeLimits {
  /** The shortest timeout of a publisher. */
  public static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(1);

  private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);

  private TimeLimits() {}

  /**
   * The timeout.
   *
   * @throws IllegalArgumentException where it is shorter than a second or longer than an hour
   */
  public static Duration timeout(Duration timeout) {
    return check("timeout", timeout, SHORTEST_TIMEOUT, LONGEST_TIMEOUT);
  }

  /**
   * The value.
   *
   * @throws IllegalArgumentException naming it, where it is less than the least or more than the
   *     most
   */
  public static Duration check(String name, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "%s is %s, allowed is from %s to %s"
              .formatted(name, Texts.time(value), Texts.time(least), Texts.time(most)));
    }
    return value;
  }
}
