package dev.outbox.dev.torture;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Something that goes wrong.
 *
 * @param number from 1
 * @param after since the fault before it
 * @param which of several, as processes or connections: from 0 to 1
 * @param length of what does not end at once
 */
record Fault(int number, Duration after, Kind kind, double which, Duration length) {

  /** How often, beside the others; and how long, in milliseconds. */
  enum Kind {
    KILL_RELAY(10),
    STOP_RELAY(14, 200, 8_000),
    KILL_PRODUCER(5),
    STOP_PRODUCER(6, 200, 6_000),
    KILL_CONSUMER(4),
    STOP_CONSUMER(3, 200, 5_000),
    /** SIGKILL, and a restart after a while. */
    KILL_DATABASE(5, 0, 2_000),
    KILL_BROKER(2, 0, 2_000),
    /** Shut down in good order, and started again at once. */
    RESTART_BROKER(2),
    /** SIGSTOP and SIGCONT. */
    STOP_BROKER(4, 200, 5_000),
    /** Connections are reset: a part of them, or all. */
    CUT_DATABASE(8),
    CUT_BROKER(4),
    /** No byte gets through. */
    STALL_DATABASE(8, 200, 8_000),
    STALL_BROKER(4, 200, 6_000),
    /** Few bytes get through. */
    SLOW_DATABASE(4, 500, 5_000),
    SLOW_BROKER(3, 500, 5_000),
    /** One end is told that the other sends no more. */
    HALF_CLOSE_DATABASE(6),
    HALF_CLOSE_BROKER(3),
    /** The wall clock of a process jumps, for a while. */
    SHIFT_CLOCK(8, 500, 8_000),
    /** Somebody else in a process has all connections of its pool. */
    EXHAUST_POOL(6, 500, 5_000),
    /** Somebody else has all connections of the database. */
    EXHAUST_DATABASE(3, 500, 4_000),
    /** A producer commits late, with low sequences. */
    LONG_TRANSACTION(8, 1_000, 10_000),
    /** A snapshot that keeps deleted rows from being removed. */
    SNAPSHOT(5, 2_000, 15_000);

    final int weight;
    final int shortest;
    final int longest;

    Kind(int weight) {
      this(weight, 0, 0);
    }

    Kind(int weight, int shortest, int longest) {
      this.weight = weight;
      this.shortest = shortest;
      this.longest = longest;
    }
  }

  /** The faults of a run, which follow from its seed; what they meet does not. */
  static final class Plan {
    private final Random random;
    private final double perMinute;

    /** Each as often as it weighs. */
    private final List<Kind> kinds =
        Arrays.stream(Kind.values())
            .flatMap(kind -> Collections.nCopies(kind.weight, kind).stream())
            .toList();

    private int number;

    Plan(long seed, double perMinute) {
      random = new Random(seed);
      this.perMinute = perMinute;
    }

    /** Never the last: a run ends when its time is over. */
    Fault next() {
      // As of a Poisson process: now and then several come at once.
      double minutes = -Math.log(1 - random.nextDouble()) / perMinute;
      Duration after = Duration.ofNanos((long) (minutes * Duration.ofMinutes(1).toNanos()));
      Kind kind = kinds.get(random.nextInt(kinds.size()));
      double which = random.nextDouble();
      // Short ones more often than long ones.
      double part = random.nextDouble() * random.nextDouble();
      long millis = kind.shortest + (long) (part * (kind.longest - kind.shortest));
      return new Fault(++number, after, kind, which, Duration.ofMillis(millis));
    }
  }

  /** For the history. */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s which=%.2f millis=%s", kind, which, length.toMillis());
  }
}
