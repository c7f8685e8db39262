package dev.outbox.spi.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A store that can say what it holds and how it is: for people, metrics and dashboards. */
public interface StatisticsStore {

  /** The cap to ask for, unless there is a reason for another one. */
  int DEFAULT_CAP = 10_000;

  /**
   * Counts at one moment, or at moments close to each other (F1). Each number ends at the cap, and
   * so does the work: a backlog of millions is not read. No estimate stands in for what lies beyond
   * the cap: the figures that databases keep by themselves are wrong by far just after a backlog
   * has come or gone. {@link Statistics#oldest} says how bad it is.
   *
   * @param cap at least 1
   * @throws IllegalArgumentException when the cap is less than 1
   */
  Statistics statistics(int cap);

  /**
   * Who holds leases now, by name. A relay that has nothing to do may hold none, and so not be
   * there; one that was killed is there until its leases have run out.
   *
   * @return nothing when the store cannot say, which is the default
   */
  default Optional<List<WorkerLease>> leases() {
    return Optional.empty();
  }

  /**
   * What is right and wrong with the store's server and tables: at least one finding for each thing
   * that the store looks at. By default it looks at nothing.
   */
  default List<Finding> findings() {
    return List.of();
  }

  /**
   * How many messages have come and gone since some moment: only the difference of two readings
   * says something, and each may be some seconds late.
   *
   * @return nothing when the store cannot say, which is the default
   */
  default Optional<Flow> flow() {
    return Optional.empty();
  }

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
   * @param oldestFree how long the oldest message that is free to go has been due; null when there
   *     is none. A store may look only at the first message of each part of the outbox
   * @param oldestBlocked the same of messages that are {@code blocked}. A store may look only at
   *     those keys that have been waiting for longest
   * @param relays how many relays live, those that hold something and those that stand by; null
   *     where the store cannot see it
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
      @Nullable Duration oldestBlocked,
      @Nullable Integer relays) {

    /** Times below zero, as after a clock was put back, become zero. */
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
   * Messages that have come and gone.
   *
   * @param in those that were appended, also in transactions that were rolled back
   * @param out those that are there no more
   */
  record Flow(long in, long out) {}

  /**
   * What one worker holds.
   *
   * @param worker its name, as in {@link Claim.Request#worker}
   * @param buckets how many parts of the outbox
   * @param since when it took or renewed the first of them, by the store's clock
   * @param until when the last of them runs out, by the store's clock
   */
  record WorkerLease(String worker, int buckets, Instant since, Instant until) {}

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
