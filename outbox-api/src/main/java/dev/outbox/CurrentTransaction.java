package dev.outbox;

import java.util.function.Function;

/**
 * Lends the transaction that is active now to an append, or to an inbox ({@link
 * dev.outbox.inbox.Inbox#joining}). One line for each library; the README has them for JDBI, jOOQ
 * and Spring.
 *
 * @param <T> the transaction's type
 */
@FunctionalInterface
public interface CurrentTransaction<T> {

  /**
   * Calls {@code append} once with the active transaction and returns its result. Throws {@link
   * NoTransactionException}, or lets the append throw it, when none is active.
   */
  Appended with(Function<T, Appended> append);
}
