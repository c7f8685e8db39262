package dev.outbox.store.postgres;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Up to where a store knows the sequences: every row below {@link #below} is visible to each later
 * snapshot, or never will be. How it gets to know that is in docs/design/postgresql.md; the model
 * is {@code docs/design/model/certify.pml}.
 *
 * <p>Kept in memory, shared by the workers of a store. Losing it costs time and nothing else. Safe
 * for use by many threads.
 */
final class CertifiedSequences {

  /**
   * The most samples that wait. Behind a writer that stays open there are more and more; the oldest
   * are enough, because they are certified first.
   */
  private static final int MOST_WAITING = 64;

  /** How long a sample has waited before anybody asks for a snapshot, and how often at most. */
  static final Duration PATIENCE = Duration.ofMillis(100);

  /** With more open transactions than these, reads begin below what any of them may append. */
  private static final int MOST_BESIDE = 64;

  /**
   * What a transaction knows.
   *
   * @param history what its sequences and ids belong to
   * @param next the sequence that came next when it began
   * @param transaction its id, drawn after the sample; 0 when it was drawn before
   * @param below what was certified then
   * @param beside what was certified then, but for some transactions
   */
  record Sample(String history, long next, long transaction, long below, Beside beside) {
    Sample with(long certified, Beside some) {
      return new Sample(history, next, transaction, certified, some);
    }
  }

  /**
   * What is certified but for some.
   *
   * @param below every row with a lower sequence is visible to each later snapshot, or never will
   *     be, or is of one of these
   * @param open the ids of transactions that were open
   */
  record Beside(long below, Set<Long> open) {
    static final Beside NONE = new Beside(0, Set.of());
  }

  /**
   * A snapshot.
   *
   * @param limit it says nothing of transactions with this id or a higher one
   * @param open the ids of the others that are not over, without the transaction that has asked
   */
  record Snapshot(long limit, Set<Long> open) {}

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

  private Beside beside = Beside.NONE;

  /** The last sample of a transaction that has an id. */
  private @Nullable Sample latest;

  /** What {@link #latest} was when the last snapshot was asked for. */
  private @Nullable Sample asked;

  private long askedAt;

  /**
   * @param patience as {@link #PATIENCE}
   */
  CertifiedSequences(LongSupplier clock, Duration patience) {
    this.clock = clock;
    this.patience = patience;
  }

  /**
   * Notes that a transaction has begun. All is forgotten in another history, where the same numbers
   * are given again, and when the next sequence is below what was certified, because somebody set
   * the sequence back.
   *
   * @param transaction its id, drawn after the sample; 0 when it was drawn before
   */
  synchronized Sample begin(String now, long next, long transaction) {
    if (!now.equals(history) || next < below) {
      history = now;
      below = 0;
      waiting.clear();
      stuck = null;
      beside = Beside.NONE;
      latest = null;
      asked = null;
    }
    if (transaction != 0 && waiting.size() < MOST_WAITING) {
      waiting.put(transaction, new Waiting(next, clock.getAsLong()));
    }
    Sample sample = new Sample(now, next, transaction, below, beside);
    latest = transaction == 0 ? latest : sample;
    return sample;
  }

  /** What is certified now; nothing is known of the sequence that comes next. */
  synchronized Sample known() {
    return new Sample(history, 0, 0, below, beside);
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
    if (sample.transaction != 0 && sample.transaction < horizon) {
      certified = Math.max(certified, sample.next);
    }
    stuck = waiting.isEmpty() ? null : waiting.firstEntry().getValue();
    below = Math.max(below, certified);
    beside = beside.below <= below ? Beside.NONE : beside;
    return Math.max(sample.below, certified);
  }

  /**
   * Whether to ask for a snapshot now; it goes to {@link #answered}.
   *
   * @param sample of the transaction that would ask
   */
  synchronized boolean asks(Sample sample) {
    long now = clock.getAsLong();
    if (stuck == null
        || now - stuck.since < patience.toNanos()
        || (asked != null && now - askedAt < patience.toNanos())
        || !sample.history.equals(history)) {
      return false;
    }
    askedAt = now;
    return true;
  }

  /**
   * A snapshot says which of the writers of an earlier sample are open still. Those are there for a
   * while: the sample is at least as old as the last question.
   *
   * @param sample of the transaction that has asked
   */
  synchronized void answered(Sample sample, Snapshot snapshot) {
    if (!sample.history.equals(history)) {
      return;
    }
    if (asked != null && asked.transaction <= snapshot.limit) {
      Set<Long> open = new HashSet<>(snapshot.open);
      long writer = asked.transaction;
      open.removeIf(transaction -> transaction >= writer);
      if (open.isEmpty()) {
        below = Math.max(below, asked.next);
      }
      beside = open.size() > MOST_BESIDE ? Beside.NONE : new Beside(asked.next, Set.copyOf(open));
    }
    asked = latest;
  }
}
