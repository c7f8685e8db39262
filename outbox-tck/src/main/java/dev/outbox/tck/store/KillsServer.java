package dev.outbox.tck.store;

import java.util.function.Consumer;

/** Unlocks the tests of a database server that is killed (A1, S4). */
public interface KillsServer<T> {

  /**
   * As {@link OutboxStoreTck#inTransaction}, with a commit that does not wait for the disk, where
   * the database has that.
   */
  void inRelaxedTransaction(Consumer<T> work);

  /** Kills the server without warning, and returns when it runs again. */
  void killServer();
}
