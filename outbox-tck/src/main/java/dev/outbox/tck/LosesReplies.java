package dev.outbox.tck;

/** Unlocks the tests of a settle that the database carried out unheard (S1). */
public interface LosesReplies {

  /**
   * Runs {@code work}, which settles on a store that {@code createStore()} of this test class
   * returned. The database carries its first commit out, and the reply is lost, as when the
   * connection breaks at this moment. Returns when {@code work} has failed for it.
   */
  void losingTheReply(Runnable work);
}
