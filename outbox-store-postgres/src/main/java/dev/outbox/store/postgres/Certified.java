package dev.outbox.store.postgres;

import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Up to where a store knows the sequences: every row below {@link #below} is visible to each later
 * snapshot, or never will be. The model is {@code docs/design/model/certify.pml}.
 *
 * <ol>
 *   <li>The first statement of a transaction samples the next sequence, and then draws the
 *       transaction's own id. A row with a lower sequence drew that before the sample, and its
 *       writer's id before the sequence, because the column {@code txid} stands before {@code seq}.
 *       So its writer has a lower id than this transaction.
 *   <li>A read's own snapshot says that all other transactions up to some id are over ({@code
 *       horizon}). When that is beyond the transaction of a sample, all those writers are over, and
 *       the sample is certified: for this read, and for each one that is sent from now on. It is
 *       not for one that is on its way, whose snapshot may be older.
 * </ol>
 *
 * <p>Kept in memory, shared by the workers of a store. Losing it costs time and nothing else. Safe
 * for use by many threads.
 */
final class Certified {

  /**
   * Of the samples that wait. Behind a writer that stays open there are more and more; the oldest
   * are enough, because they are certified first.
   */
  private static final int MOST_WAITING = 64;

  /**
   * What a transaction knows.
   *
   * @param history what its sequences and ids belong to
   * @param next the sequence that came next when it began
   * @param below what was certified then
   */
  record Sample(String history, long next, long below) {}

  private final TreeMap<Long, Long> waiting = new TreeMap<>();
  private String history = "";
  private long below;

  /**
   * A transaction has begun. In another history the same numbers are given again; what lies beyond
   * the next sequence is from before somebody set the sequence back.
   *
   * @param transaction its id, drawn after the sample; 0 when it was drawn before
   */
  synchronized Sample begin(String now, long next, long transaction) {
    if (!now.equals(history) || next < below) {
      history = now;
      below = 0;
      waiting.clear();
    }
    if (transaction != 0 && waiting.size() < MOST_WAITING) {
      waiting.put(transaction, next);
    }
    return new Sample(now, next, below);
  }

  /** What is certified now; nothing is known of the sequence that comes next. */
  synchronized Sample known() {
    return new Sample(history, 0, below);
  }

  /**
   * A read has come back.
   *
   * @param sample of its transaction
   * @param horizon all other transactions with a lower id are over, as the read's snapshot saw it
   * @return what is certified for this read
   */
  synchronized long afterRead(Sample sample, long horizon) {
    if (!sample.history.equals(history)) {
      return sample.below;
    }
    SortedMap<Long, Long> over = waiting.headMap(horizon);
    long certified = over.values().stream().mapToLong(Long::longValue).reduce(0, Math::max);
    over.clear();
    below = Math.max(below, certified);
    return Math.max(sample.below, certified);
  }
}
