package dev.outbox.tck.store;

import java.util.function.Consumer;

/** Unlocks the tests of an append in a read-only transaction (A2). */
public interface ReadOnlyTransactions<T> {

  /** As {@link OutboxStoreTck#inTransaction}, read only. */
  void inReadOnlyTransaction(Consumer<T> work);
}
