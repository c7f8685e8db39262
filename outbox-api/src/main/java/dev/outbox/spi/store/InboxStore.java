package dev.outbox.spi.store;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.inbox.Inbox;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One database behind the inbox. Everything about time is the database's clock. Safe for use by
 * many threads.
 *
 * <p>A key that is done is forgotten by {@link #housekeep} alone, not before its retention is over,
 * and never while somebody has its lock (I8). A key that was begun and never done is forgotten one
 * retention after its lock ran out or was released. Purging goes in small transactions, and waits
 * for nobody.
 *
 * <p>One that brings its own schema is also a {@link SchemaStore}.
 *
 * @param <T> the transaction's type
 */
public interface InboxStore<T> extends Inbox<T> {

  /** Before the name of each table, unless told otherwise. */
  String DEFAULT_PREFIX = "inbox_";

  /** How long a key is remembered after it was done, unless told otherwise: 7 days. */
  Duration DEFAULT_RETENTION = Duration.ofDays(7);

  /** Purges what is no longer needed. Call it about each minute, by any number of processes. */
  void housekeep();

  /**
   * Counts what is not done, at one moment (F1). Each number ends at the cap, and so does the work.
   *
   * @param cap at least 1
   * @return null when the inbox cannot count, which is the default
   * @throws IllegalArgumentException when the cap is less than 1
   */
  default @Nullable InboxStatistics statistics(int cap) {
    return null;
  }

  /**
   * Each number is exact below the cap; one that is equal to it says "so many or more".
   *
   * @param cap what was asked for
   * @param inProgress keys that somebody has the lock of
   * @param expiredLocks keys whose lock has run out: their holder crashed or is too slow, and
   *     nobody took over
   * @param failed keys that were released with an error, and not begun again
   */
  record InboxStatistics(int cap, long inProgress, long expiredLocks, long failed) {

    /** Whether one of these numbers stands for "so many or more". */
    public boolean isAtCap(long number) {
      return number >= cap;
    }
  }

  /**
   * For stores: refuses a lock that is too short or too long.
   *
   * @return the lock
   * @throws IllegalArgumentException naming it and what is allowed
   */
  static Duration checkedLock(Duration lock) {
    return checked("lock", lock);
  }

  /**
   * For stores: refuses a retention that is too short or too long, as {@link #checkedLock} a lock.
   */
  static Duration checkedRetention(Duration retention) {
    return checked("retention", retention);
  }

  private static Duration checked(String what, Duration time) {
    if (time.compareTo(Duration.ofMillis(1)) < 0 || time.compareTo(OutboxMessage.MAX_DELAY) > 0) {
      throw new IllegalArgumentException(
          "%s is %s, allowed is from 1 ms to %s"
              .formatted(what, Texts.time(time), Texts.time(OutboxMessage.MAX_DELAY)));
    }
    return time;
  }
}
