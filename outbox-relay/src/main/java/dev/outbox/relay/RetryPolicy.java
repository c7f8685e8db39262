package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.TimeLimits;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * How often a message is tried, and how long to wait in between. Counts only attempts that failed,
 * never those that ended because broker, topic or partition could not be reached (P3). Immutable;
 * safe for use by many threads.
 */
public final class RetryPolicy {

  /** Default of {@link Builder#firstDelay}: 100 ms. */
  public static final Duration DEFAULT_FIRST_DELAY = Duration.ofMillis(100);

  /** Default of {@link Builder#maxDelay}: 5 minutes. */
  public static final Duration DEFAULT_MAX_DELAY = Duration.ofMinutes(5);

  /** Default of {@link Builder#maxAttempts}: 10. */
  public static final int DEFAULT_MAX_ATTEMPTS = 10;

  /** The part of each delay that is left to chance; chance only shortens. */
  private static final double JITTER = 0.2;

  private static final Duration LONGEST_DELAY = Duration.ofDays(3650);
  private static final RetryPolicy DEFAULTS = builder().build();

  private final Duration firstDelay;
  private final Duration maxDelay;
  private final int maxAttempts;
  private final DoubleSupplier random;

  private RetryPolicy(Builder b) {
    firstDelay = TimeLimits.check("firstDelay", b.firstDelay, Duration.ZERO, LONGEST_DELAY);
    maxDelay = TimeLimits.check("maxDelay", b.maxDelay, firstDelay, LONGEST_DELAY);
    maxAttempts = (int) Settings.between("maxAttempts", b.maxAttempts, 1, Integer.MAX_VALUE);
    random = b.random;
  }

  /** 10 attempts; 100 ms, doubled up to 5 minutes, up to a fifth less by chance. */
  public static RetryPolicy ofDefaults() {
    return DEFAULTS;
  }

  /** Starts with the values of {@link #ofDefaults()}. */
  public static Builder builder() {
    return new Builder();
  }

  /** How many attempts may fail before the message is a dead letter; at least 1. */
  public int maxAttempts() {
    return maxAttempts;
  }

  /**
   * How long to wait before the next attempt.
   *
   * @param failed how many attempts have failed by now, at least 1
   * @return from 0 to {@link Builder#maxDelay}
   */
  public Duration delay(int failed) {
    double full = firstDelay.toMillis() * Math.pow(2, Math.max(0, failed - 1));
    double limited = Math.min(full, maxDelay.toMillis());
    return Duration.ofMillis(Math.round(limited * (1 - JITTER * random.getAsDouble())));
  }

  /** Collects the values; {@link #build()} checks them. */
  public static final class Builder {
    private Duration firstDelay = DEFAULT_FIRST_DELAY;
    private Duration maxDelay = DEFAULT_MAX_DELAY;
    private int maxAttempts = DEFAULT_MAX_ATTEMPTS;
    private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

    private Builder() {}

    /** The delay after the first failure, doubled after each further one; from 0. */
    public Builder firstDelay(Duration firstDelay) {
      this.firstDelay = requireNonNull(firstDelay, "firstDelay");
      return this;
    }

    /** The longest delay; at least {@link #firstDelay}. */
    public Builder maxDelay(Duration maxDelay) {
      this.maxDelay = requireNonNull(maxDelay, "maxDelay");
      return this;
    }

    /** How many attempts may fail before the message is a dead letter; at least 1. */
    public Builder maxAttempts(int maxAttempts) {
      this.maxAttempts = maxAttempts;
      return this;
    }

    /** For tests: chance, from 0 to 1. */
    Builder random(DoubleSupplier random) {
      this.random = random;
      return this;
    }

    /**
     * Checks and builds.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public RetryPolicy build() {
      return new RetryPolicy(this);
    }
  }
}
