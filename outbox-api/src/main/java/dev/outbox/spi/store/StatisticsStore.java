package dev.outbox.spi.store;

import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A store that can count what it holds, up to a cap. */
public interface StatisticsStore {

  /** Up to which numbers are exact, unless the caller has a reason for another cap. */
  int DEFAULT_CAP = 10_000;

  /**
   * Counts at one moment, or at moments close to each other (F1). Each number ends at the cap, and
   * so does the work: a backlog of millions is not read. No estimate stands in for what lies beyond
   * the cap, because the figures that databases keep by themselves are wrong by far just after a
   * backlog has come or gone: {@link Statistics#oldest} says how bad it is.
   *
   * @param cap at least 1
   * @throws IllegalArgumentException when the cap is less than 1
   */
  Statistics statistics(int cap);

  /**
   * Each number is exact below the cap; one that is equal to it says "so many or more".
   *
   * @param cap what was asked for
   * @param pending due and free to go
   * @param scheduled due later, or due now but not taken yet
   * @param blocked waiting behind a message of their key, or that message itself
   * @param dead dead letters
   * @param blockedKeys keys that wait for a retry
   * @param haltedKeys keys that wait for someone to decide about a dead letter
   * @param oldestFree how long a message that is free to go has been due: the oldest, or in front
   *     of the others of its part of the outbox; null when there is none
   * @param oldestBlocked the same of messages that are {@code blocked}. A store may look only at
   *     those keys that have been waiting for longest
   */
  record Statistics(
      int cap,
      long pending,
      long scheduled,
      long blocked,
      long dead,
      long blockedKeys,
      long haltedKeys,
      @Nullable Duration oldestFree,
      @Nullable Duration oldestBlocked) {

    /** A clock that was put back says of young messages that they are due for less than no time. */
    public Statistics {
      oldestFree = atLeastZero(oldestFree);
      oldestBlocked = atLeastZero(oldestBlocked);
    }

    private static @Nullable Duration atLeastZero(@Nullable Duration time) {
      return time != null && time.isNegative() ? Duration.ZERO : time;
    }

    /** How long the oldest message has been due, free or blocked; null when there is none. */
    public @Nullable Duration oldest() {
      return Stream.of(oldestFree, oldestBlocked)
          .filter(Objects::nonNull)
          .max(Duration::compareTo)
          .orElse(null);
    }

    /** Whether one of these numbers stands for "so many or more". */
    public boolean isAtCap(long number) {
      return number >= cap;
    }
  }

  /**
   * For stores.
   *
   * @return the cap
   * @throws IllegalArgumentException when the cap is less than 1
   */
  static int checked(int cap) {
    if (cap < 1) {
      throw new IllegalArgumentException("cap is " + cap + ", at least 1 is needed");
    }
    return cap;
  }
}
