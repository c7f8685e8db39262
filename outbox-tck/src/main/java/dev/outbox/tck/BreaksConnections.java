package dev.outbox.tck;

/** Unlocks the tests of settles and decisions whose connection breaks in the middle (S1, O3). */
public interface BreaksConnections {

  /**
   * Runs {@code work}, which settles on a store that {@code createStore()} of this test class
   * returned, or decides about its dead letters, and breaks its connection instead of sending one
   * of the writes: inserts, updates, deletes. What was committed before stays, the rest of the
   * transaction is gone. {@link dev.outbox.tck.store.JdbcOutboxStoreTck} does it for JDBC.
   *
   * @param write which one, from 1
   * @return true when {@code work} came to that write, and has failed for it or gone on without;
   *     false when it has ended with fewer writes; false for the first write skips the test, which
   *     has shown nothing
   */
  boolean breakingAtWrite(int write, Runnable work);
}
