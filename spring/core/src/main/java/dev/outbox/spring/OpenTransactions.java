package dev.outbox.spring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Knows which transactions of JDBC can still commit. Spring does not show it: from the commit until
 * it has cleaned up, a transaction still counts as active and has its connection. So each
 * transaction gets a synchronization when it begins, which hears of its end before all others.
 */
final class OpenTransactions implements TransactionExecutionListener {
  private static final OpenTransactions LISTENER = new OpenTransactions();

  /**
   * By what holds the connection. Its keys are weak, because a transaction may be left without an
   * end. Spring's ConcurrentReferenceHashMap would not do: its entries are weak, and a garbage
   * collection forgets transactions that are open.
   */
  private static final Map<ConnectionHolder, Boolean> OPEN =
      Collections.synchronizedMap(new WeakHashMap<>());

  private OpenTransactions() {}

  /** Hears of the manager's transactions from now on. Once is enough, and twice is no harm. */
  static void of(ConfigurableTransactionManager manager) {
    Collection<TransactionExecutionListener> known = manager.getTransactionExecutionListeners();
    if (!known.contains(LISTENER)) {
      List<TransactionExecutionListener> all = new ArrayList<>(known); // that one may be immutable
      all.add(0, LISTENER);
      manager.setTransactionExecutionListeners(all);
    }
  }

  /** Whether the transaction can still commit; null when nobody listens to its manager. */
  static @Nullable Boolean isOpen(ConnectionHolder transaction) {
    return OPEN.get(transaction);
  }

  @Override
  public void afterBegin(TransactionExecution execution, @Nullable Throwable failure) {
    if (failure == null
        && TransactionSynchronizationManager.isSynchronizationActive()
        && execution instanceof DefaultTransactionStatus status
        && status.getTransaction() instanceof JdbcTransactionObjectSupport transaction
        && transaction.hasConnectionHolder()) {
      End end = new End(transaction.getConnectionHolder());
      OPEN.put(end.transaction, true);
      TransactionSynchronizationManager.registerSynchronization(end);
    }
  }

  private record End(ConnectionHolder transaction)
      implements TransactionSynchronization, PriorityOrdered {
    @Override
    public int getOrder() {
      return HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
      OPEN.put(transaction, false);
    }

    /** Also of one that was rolled back, or whose commit has failed. */
    @Override
    public void afterCompletion(int status) {
      OPEN.put(transaction, false);
    }
  }
}
