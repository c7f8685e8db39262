package dev.outbox.store.postgres;

import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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
 *   <li>Beside a transaction that stays open no such horizon comes, whatever that one does. Then
 *       those are asked for that hold a lock on the table of messages, as an insert takes it before
 *       it draws a sequence and keeps it until its transaction is over. When none is left of those
 *       that were found after a sample was taken, the sample is certified for each read that is
 *       sent from now on. So only a transaction that has appended stands in the way.
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

  /** How long a sample has waited before anybody asks for locks, and how often at most. */
  static final Duration PATIENCE = Duration.ofMillis(100);

  /**
   * What a transaction knows.
   *
   * @param history what its sequences and ids belong to
   * @param next the sequence that came next when it began
   * @param below what was certified then
   */
  record Sample(String history, long next, long below) {}

  /**
   * A transaction that holds a lock on the table of messages.
   *
   * @param transaction its virtual id
   * @param prepared whether it has no session any more; on some versions its virtual id is then
   *     another one
   */
  record Holder(String transaction, boolean prepared) {}

  /**
   * The holders of locks are to be asked for.
   *
   * @param number of the question, from 1 on
   * @param sample of the transaction that asks
   */
  record Question(long number, Sample sample) {}

  /**
   * A sample that waits for holders of locks.
   *
   * @param left of those that were found after the sample was taken
   */
  private record Beside(Sample sample, Set<Holder> left) {}

  /**
   * A sample that waits for the horizon.
   *
   * @param since by the clock
   */
  private record Waiting(long next, long since) {}

  private final LongSupplier clock;
  private final Duration patience;
  private final TreeMap<Long, Waiting> waiting = new TreeMap<>();
  private String history = "";
  private long below;

  /** The oldest sample that the last read left waiting. */
  private @Nullable Waiting stuck;

  private @Nullable Beside beside;
  private long questions;
  private long askedAt;

  /**
   * @param clock as {@link System#nanoTime}
   * @param patience as {@link #PATIENCE}
   */
  Certified(LongSupplier clock, Duration patience) {
    this.clock = clock;
    this.patience = patience;
  }

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
      stuck = null;
      beside = null;
    }
    if (transaction != 0 && waiting.size() < MOST_WAITING) {
      waiting.put(transaction, new Waiting(next, clock.getAsLong()));
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
    SortedMap<Long, Waiting> over = waiting.headMap(horizon);
    long certified = over.values().stream().mapToLong(Waiting::next).reduce(0, Math::max);
    over.clear();
    stuck = waiting.isEmpty() ? null : waiting.firstEntry().getValue();
    below = Math.max(below, certified);
    return Math.max(sample.below, certified);
  }

  /**
   * Whether to ask now who holds a lock on the table. The answer goes to {@link #answered}; a
   * question that nobody answers is asked anew.
   *
   * @param sample of the transaction that would ask
   */
  synchronized Optional<Question> question(Sample sample) {
    long now = clock.getAsLong();
    if (stuck == null
        || now - stuck.since < patience.toNanos()
        || (questions > 0 && now - askedAt < patience.toNanos())
        || !sample.history.equals(history)) {
      return Optional.empty();
    }
    askedAt = now;
    questions++;
    return Optional.of(new Question(questions, sample));
  }

  /**
   * An answer to the last question; one to an older question says nothing, because it may be older
   * than what was found for the last one.
   *
   * @param holders all but the transaction that has asked, which appends nothing
   */
  synchronized void answered(Question question, Set<Holder> holders) {
    if (question.number != questions || !question.sample.history.equals(history)) {
      return;
    }
    if (beside != null) {
      // One that is prepared now may be one that was found under another id.
      beside.left.removeIf(holder -> !holders.contains(holder));
      holders.stream().filter(Holder::prepared).forEach(beside.left::add);
    }
    if (beside == null || certifies(beside)) {
      beside = new Beside(question.sample, new HashSet<>(holders));
      boolean ignored = certifies(beside);
    }
  }

  private boolean certifies(Beside one) {
    boolean over = one.left.isEmpty();
    below = over ? Math.max(below, one.sample.next) : below;
    return over;
  }
}
