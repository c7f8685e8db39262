package dev.outbox.tck;

import java.util.function.Consumer;

/** Unlocks the tests of an append without an active transaction (A2). */
public interface AutoCommit<T> {

  /** Runs {@code work} with a connection in auto-commit, or a session without a transaction. */
  void withoutTransaction(Consumer<T> work);
}
