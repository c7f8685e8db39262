package dev.outbox.store.postgres;

import java.time.Duration;
import java.util.Collection;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Whether buckets that nobody holds may have messages, asked by those who keep buckets and look
 * there first: as long as each sequence that was drawn is one of a message that was read, there is
 * nothing else.
 *
 * <p>A sequence that is missing is mostly one of a transaction that is still open. So one counts
 * only when it was missing at an earlier look as well, and all transactions are over that were
 * running then; or after {@value #PATIENCE_MILLIS} ms, because a transaction that stays open says
 * nothing of the others. That of one that was rolled back counts until a lease finds nothing.
 *
 * <p>It says yes too often, and no only for a moment where it is wrong: what another relay leaves
 * behind, or what is due again, is found by the next close look. Safe for use by many threads.
 */
final class Elsewhere {
  static final long PATIENCE_MILLIS = 5;
  private static final long PATIENCE = Duration.ofMillis(PATIENCE_MILLIS).toNanos();

  /** So many sequences are remembered; with more missing ones in between, the answer is yes. */
  private static final int MOST_SEEN = 10_000;

  private final LongSupplier clock;

  /** All messages below were read, or were nowhere. */
  private long explained;

  private final TreeSet<Long> seen = new TreeSet<>();
  private String history = "";
  private Missing missing = new Missing(0, 0, 0);

  /** Below it all transactions are over, as a look saw it. */
  private long over;

  /**
   * What a look saw.
   *
   * @param history what sequences and ids belong to
   * @param next the sequence that came next
   * @param horizon all transactions with a lower id are over
   * @param running transactions with this id or a higher one had not begun
   */
  record Seen(String history, long next, long horizon, long running) {}

  /**
   * What an earlier look has missed.
   *
   * @param below it, some sequence is missing
   * @param running the ids of transactions that were running are lower
   * @param since by the clock
   */
  private record Missing(long below, long running, long since) {}

  /**
   * @param clock as {@link System#nanoTime}
   */
  Elsewhere(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * A look has come back.
   *
   * @param sequences of the messages that it read
   */
  synchronized boolean mayHaveMessages(Seen look, Collection<Long> sequences) {
    if (!look.history.equals(history) || look.next < explained) {
      history = look.history;
      explained = 0;
      seen.clear();
      over = 0;
      missing = new Missing(look.next, 0, clock.getAsLong());
    }
    read(sequences);
    while (seen.remove(explained)) {
      explained++;
    }
    if (!isMissing(missing.below)) {
      missing = new Missing(look.next, look.running, clock.getAsLong());
      return false;
    }
    if (look.horizon >= missing.running) {
      over = missing.below;
    }
    return over >= missing.below || clock.getAsLong() - missing.since >= PATIENCE;
  }

  /** Messages were read, or handed over without that. */
  synchronized void read(Collection<Long> sequences) {
    if (seen.size() < MOST_SEEN) {
      sequences.stream().filter(sequence -> sequence >= explained).forEach(seen::add);
    }
  }

  /** Whether some sequence below was not read. */
  private boolean isMissing(long below) {
    return below - explained > seen.headSet(below).size();
  }

  /** Below it all transactions are over, as far as looks have seen; to be asked before a lease. */
  synchronized long over() {
    return over;
  }

  /**
   * A lease found no bucket.
   *
   * @param below what was certified, or {@link #over}, before it was asked for
   */
  synchronized void nothing(String now, long below) {
    if (now.equals(history) && below > explained) {
      explained = below;
      seen.headSet(below).clear();
    }
  }
}
