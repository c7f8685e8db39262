package dev.outbox.store.core;

/**
 * A bucket's low-water mark. Reading begins at {@link #low} and not at the first index entry: those
 * of delivered messages stay until vacuum removes them, and vacuum may be held up for hours.
 *
 * <p>The mark must not pass a message whose transaction has drawn a low sequence and commits late.
 * So it follows in steps:
 *
 * <ol>
 *   <li>A claim reads up to some sequence ({@link #read}).
 *   <li>The transaction that settles the claim makes that a candidate, with its own id: later ones
 *       draw their sequence after their id, so above the candidate. The id of the reading
 *       transaction would not do: it was drawn before the read.
 *   <li>A read whose own snapshot says that all transactions up to that one are over, itself aside
 *       ({@code horizon}), sees everything that can be below the candidate, provided it begins at
 *       the old mark. The new one is the candidate, or the lowest PENDING message still there.
 * </ol>
 *
 * <p>The holder of the lease keeps it in memory, which nothing contradicts because nothing returns
 * to PENDING, and stores it when it lets go. Losing it costs time and nothing else.
 *
 * @param low nothing below this sequence is PENDING
 * @param candidate what {@code low} may become; 0 when there is none
 * @param after the transaction that must be over first, with all before it
 * @param read one more than the highest sequence read, when no candidate says it yet; or 0
 * @param history what the sequences and ids in it belong to: after a failover or a restart of the
 *     sequence the same numbers are given again
 */
public record Mark(long low, long candidate, long after, long read, String history) {

  /** Where reading begins at the first message: in a new history, or without marks at all. */
  public static Mark none(String history) {
    return stored(0, 0, 0, history);
  }

  /** As it is stored. */
  public static Mark stored(long low, long candidate, long after, String history) {
    return new Mark(low, candidate, after, 0, history);
  }

  /**
   * After a read that began at {@link #low}.
   *
   * @param lowest the lowest PENDING sequence it saw; {@link Long#MAX_VALUE} when it saw none
   * @param highest the highest one, or 0
   * @param horizon all other transactions with a lower id are over, as that read's own snapshot saw
   *     it
   */
  Mark afterRead(long lowest, long highest, long horizon) {
    long reached = Math.max(read, highest == 0 ? 0 : highest + 1);
    return candidate != 0 && after < horizon
        ? new Mark(Math.max(low, Math.min(candidate, lowest)), 0, 0, reached, history)
        : new Mark(low, candidate, after, reached, history);
  }

  /**
   * In the transaction that settles what was read. A candidate that waits stays, or under load none
   * would ever be old enough; one that is not older than this transaction is from another server's
   * time.
   *
   * @param transaction its id, drawn after the read
   * @param now the history it belongs to; a mark of another one is forgotten
   */
  Mark afterSettle(long transaction, String now) {
    if (!now.equals(history)) {
      return none(now);
    }
    boolean waits = candidate != 0 && after < transaction;
    return waits || read <= low ? this : new Mark(low, read, transaction, 0, history);
  }
}
