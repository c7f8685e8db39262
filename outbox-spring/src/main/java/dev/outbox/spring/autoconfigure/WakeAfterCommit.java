package dev.outbox.spring.autoconfigure;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Wakes the relay when a transaction that appended has committed, so that its messages need not
 * wait for the next poll. Knows the relay only once there is one: what publishes may itself append.
 */
final class WakeAfterCommit implements TransactionSynchronization {
  private volatile Runnable wake = () -> {};

  /**
   * From now on.
   *
   * @param wake quick, and throws nothing: the transaction has committed
   */
  void calls(Runnable wake) {
    this.wake = wake;
  }

  /** Once a transaction, however often it appends: a transaction keeps a set of these. */
  void afterThisTransaction() {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      TransactionSynchronizationManager.registerSynchronization(this);
    }
  }

  @Override
  public void afterCommit() {
    wake.run();
  }
}
