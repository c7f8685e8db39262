package dev.outbox.spring;

import dev.outbox.NoTransactionException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Refuses to write where Spring has no transaction that could commit it. */
final class ActiveTransaction {
  private ActiveTransaction() {}

  /**
   * Asks Spring and not the connection: a pool's connection may have auto-commit off, and what is
   * written on it without a transaction vanishes when it is returned.
   */
  static void require() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new NoTransactionException(
          "no transaction of Spring is active in this thread, so there is none to join: call this in a method with @Transactional, called through its bean and not through this, or in a TransactionTemplate");
    }
    if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
      throw new NoTransactionException(
          "the current transaction is read-only, so nothing can be written in it: take readOnly = true from its @Transactional");
    }
  }

  /**
   * The error for a transaction that is over; to Spring it is active until the last callback
   * returns.
   */
  static NoTransactionException over() {
    return new NoTransactionException(
        "the current transaction is over, committed or rolled back, so nothing more can be written in it: a @TransactionalEventListener that does needs phase = BEFORE_COMMIT, or a transaction of its own by @Transactional(propagation = REQUIRES_NEW), as does whatever else is called after a commit");
  }
}
