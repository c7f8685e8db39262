package dev.outbox.tck;

/**
 * Says that the database cannot make an append wait for another transaction (A4): where two append
 * the same dedup key at once, the later one fails and its transaction has to run again. The tests
 * of waiting then check that it does fail, says so, and finds out what happened when it runs again.
 */
public interface FailsOnConflict {

  /** Whether an append failed because its whole transaction must run again. */
  boolean isToRunAgain(Throwable failure);
}
