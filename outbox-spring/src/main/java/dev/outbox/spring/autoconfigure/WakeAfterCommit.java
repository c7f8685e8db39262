package dev.outbox.spring.autoconfigure;

import dev.outbox.spring.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Wakes the relay when a transaction that appended has committed, so that its messages need not
 * wait for the next poll. Knows the relay only once there is one: what publishes may itself append.
 */
final class WakeAfterCommit implements TransactionSynchronization {
  private volatile @Nullable OutboxRelay relay;

  void wakes(OutboxRelay relay) {
    this.relay = relay;
  }

  /** Once a transaction, however often it appends: a transaction keeps a set of these. */
  void afterThisTransaction() {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      TransactionSynchronizationManager.registerSynchronization(this);
    }
  }

  @Override
  public void afterCommit() {
    OutboxRelay current = relay;
    if (current != null) {
      current.wake();
    }
  }
}
