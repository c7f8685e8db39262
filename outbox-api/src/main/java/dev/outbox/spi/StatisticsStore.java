package dev.outbox.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A store that can count what it holds. */
public interface StatisticsStore {

  /** Counts at one moment. May read the whole backlog: for people and dashboards, not for loops. */
  Statistics statistics();

  /**
   * @param pending due and free to go
   * @param scheduled due later, or due now but not taken yet
   * @param blocked waiting behind a message of their key, or that message itself
   * @param dead dead letters
   * @param blockedKeys keys that wait for a retry
   * @param haltedKeys keys that wait for someone to decide about a dead letter
   * @param oldestPending age of the oldest message that is due and not dead; null when there is
   *     none
   */
  record Statistics(
      long pending,
      long scheduled,
      long blocked,
      long dead,
      long blockedKeys,
      long haltedKeys,
      @Nullable Duration oldestPending) {}
}
