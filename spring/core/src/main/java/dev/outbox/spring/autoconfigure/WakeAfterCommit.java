package dev.outbox.spring.autoconfigure;

import dev.outbox.spring.OutboxRelay;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Wakes the relay when a transaction that appended has committed, so that its messages need not
 * wait for the next poll. Learns the relay, ours or the application's, when all beans are there:
 * what publishes may itself append.
 */
final class WakeAfterCommit
    implements TransactionSynchronization, ApplicationListener<ContextRefreshedEvent> {
  private final ObjectProvider<OutboxRelay> relays;
  private volatile Runnable target = () -> {};

  WakeAfterCommit(ObjectProvider<OutboxRelay> relays) {
    this.relays = relays;
  }

  @Override
  public void onApplicationEvent(ContextRefreshedEvent event) {
    relays.ifUnique(relay -> calls(relay::wake));
  }

  /**
   * From now on.
   *
   * @param target quick, and throws nothing: the transaction has committed
   */
  void calls(Runnable target) {
    this.target = target;
  }

  /** Once a transaction, however often it appends: a transaction keeps a set of these. */
  void afterThisTransaction() {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      TransactionSynchronizationManager.registerSynchronization(this);
    }
  }

  @Override
  public void afterCommit() {
    target.run();
  }
}
