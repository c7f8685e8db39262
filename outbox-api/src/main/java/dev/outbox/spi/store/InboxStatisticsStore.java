package dev.outbox.spi.store;

/** An inbox that can count what is not done, up to a cap. */
public interface InboxStatisticsStore {

  /**
   * Counts at one moment (F1). Each number ends at the cap, and so does the work.
   *
   * @param cap at least 1
   * @throws IllegalArgumentException when the cap is less than 1
   */
  InboxStatistics statistics(int cap);

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
}
