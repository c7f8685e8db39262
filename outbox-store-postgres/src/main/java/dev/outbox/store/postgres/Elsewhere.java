package dev.outbox.store.postgres;

import java.util.Collection;
import java.util.TreeSet;

/**
 * Whether buckets that nobody holds may have messages, asked by those who keep buckets and look
 * there first: as long as each sequence that was drawn is one of a message that was read, there is
 * nothing else. A sequence of a transaction that is open or was rolled back is missing until it is
 * {@link Certified} and a lease finds nothing.
 *
 * <p>It says yes too often, and no only for a moment where it is wrong: what another relay leaves
 * behind, or what is due again, is found by the next close look. Safe for use by many threads.
 */
final class Elsewhere {

  /** So many sequences are remembered; with more missing ones in between, the answer is yes. */
  private static final int MOST_SEEN = 10_000;

  /** All messages below were read, or were nowhere. */
  private long explained;

  private final TreeSet<Long> seen = new TreeSet<>();
  private String history = "";

  /**
   * A look has come back.
   *
   * @param next the sequence that came next
   * @param sequences of the messages that it read
   */
  synchronized boolean mayHaveMessages(String now, long next, Collection<Long> sequences) {
    if (!now.equals(history) || next < explained) {
      history = now;
      explained = 0;
      seen.clear();
    }
    if (seen.size() < MOST_SEEN) {
      sequences.stream().filter(sequence -> sequence >= explained).forEach(seen::add);
    }
    while (seen.remove(explained)) {
      explained++;
    }
    return next - explained > seen.size();
  }

  /**
   * A lease found no bucket.
   *
   * @param below what was certified before it was asked for
   */
  synchronized void nothing(String now, long below) {
    if (now.equals(history) && below > explained) {
      explained = below;
      seen.headSet(below).clear();
    }
  }
}
