package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.Outbox;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.OutboxRelay;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.ConnectionProxy;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Appends through the relay that the auto-configuration builds, and tells it of the commit, so that
 * it need not read the messages. Without such a relay the store appends, and the commit wakes
 * whoever publishes: the relay, ours or the application's, which it learns when all beans are
 * there, because what publishes may itself append.
 *
 * <p>The commit after which Spring calls need not be the outbox's. With two managers, an append may
 * join the outer transaction while the inner one is Spring's current, and what it registers is
 * called when the inner one has committed. So the relay is told only if the transaction that
 * commits has the append's connection, and if no statement of it has failed: its commit would be a
 * rollback of which Spring hears nothing. (Spring's JDBC is in no signature, because it may be
 * missing.)
 */
final class HandOver
    implements TransactionSynchronization, ApplicationListener<ContextRefreshedEvent> {
  private final ObjectProvider<OutboxRelay> relays;
  private volatile Runnable wake = () -> {};
  private volatile @Nullable Target target;

  /**
   * @param store the relay's; the same outbox as the application's
   */
  private record Target(Relay relay, KeepingStore<Object> store) {}

  HandOver(ObjectProvider<OutboxRelay> relays) {
    this.relays = relays;
  }

  /** Looks at the manager's transactions right before their commits; others hand over nothing. */
  static void listenTo(ConfigurableTransactionManager manager) {
    List<TransactionExecutionListener> all =
        new ArrayList<>(manager.getTransactionExecutionListeners()); // that one may be immutable
    all.add(new LastLook());
    manager.setTransactionExecutionListeners(all);
  }

  @Override
  public void onApplicationEvent(ContextRefreshedEvent event) {
    relays.ifUnique(relay -> wakes(relay::wake));
  }

  /**
   * Calls this after commits, from now on.
   *
   * @param wake quick, and throws nothing: the transaction has committed
   */
  void wakes(Runnable wake) {
    this.wake = wake;
  }

  /**
   * From now on, where the store can hand over.
   *
   * @param store the relay's
   */
  @SuppressWarnings("unchecked") // of the same type of transaction as the application's store
  void to(Relay relay, OutboxStore<?> store) {
    target =
        store instanceof KeepingStore<?> able && able.handsOver()
            ? new Target(relay, (KeepingStore<Object>) store)
            : null;
  }

  /** A view of the application's store. */
  <T> Outbox<T> outbox(OutboxStore<T> store) {
    return (transaction, messages) -> {
      Target to = target;
      Object bound = to == null ? null : boundFor(transaction);
      if (to == null || bound == null) {
        Appended appended = store.append(transaction, messages);
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
          TransactionSynchronizationManager.registerSynchronization(this); // once: it keeps a set
        }
        return appended;
      }
      Uncommitted uncommitted = to.relay().append(to.store(), transaction, messages);
      TransactionSynchronizationManager.registerSynchronization(
          new AfterCommit(uncommitted, to.store(), bound, this));
      return uncommitted.appended();
    };
  }

  @Override
  public void afterCommit() {
    wake.run();
  }

  /** Null where the connection is not that of a transaction which Spring tells of. */
  private static @Nullable Object boundFor(Object connection) {
    return TransactionSynchronizationManager.isSynchronizationActive()
        ? TransactionSynchronizationManager.getResourceMap().values().stream()
            .filter(resource -> isOn(resource, connection))
            .findFirst()
            .orElse(null)
        : null;
  }

  /** One that was suspended, and not used since, has none. */
  private static boolean isOn(Object resource, Object connection) {
    return resource instanceof ConnectionHolder holder
        && holder.getConnectionHandle() != null
        && (holder.getConnection() == connection
            // What gives statements the transaction's timeout stands around it.
            || connection instanceof ConnectionProxy proxy
                && holder.getConnection() == proxy.getTargetConnection());
  }

  /** Of one append. Before those of the application, which may take their time, or fail. */
  private static final class AfterCommit implements TransactionSynchronization {
    private final Uncommitted uncommitted;
    private final KeepingStore<Object> store;
    private final Object holder;
    private final HandOver otherwise;

    /** Whether what commits next is the append's transaction, and no rollback in disguise. */
    private boolean isCommitting;

    AfterCommit(
        Uncommitted uncommitted, KeepingStore<Object> store, Object holder, HandOver otherwise) {
      this.uncommitted = uncommitted;
      this.store = store;
      this.holder = holder;
      this.otherwise = otherwise;
    }

    void look(TransactionExecution next) {
      try {
        isCommitting =
            next instanceof DefaultTransactionStatus status
                && status.isNewTransaction()
                && status.getTransaction() instanceof JdbcTransactionObjectSupport transaction
                && transaction.hasConnectionHolder()
                && transaction.getConnectionHolder() == holder
                && store.canCommit(transaction.getConnectionHolder().getConnection());
      } catch (RuntimeException e) { // of a proxy: the commit goes on
        isCommitting = false;
      }
    }

    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
      if (isCommitting) {
        uncommitted.committed();
      } else {
        otherwise.afterCommit();
      }
    }
  }

  /** Comes right before the commit, when all synchronizations have done what they do before it. */
  private static final class LastLook implements TransactionExecutionListener {
    @Override
    public void beforeCommit(TransactionExecution transaction) {
      if (TransactionSynchronizationManager.isSynchronizationActive()) {
        for (TransactionSynchronization one :
            TransactionSynchronizationManager.getSynchronizations()) {
          if (one instanceof AfterCommit append) {
            append.look(transaction);
          } else if (one instanceof SpringInbox.BeforeCommit<?> handled) {
            handled.beforeCommit(transaction.isReadOnly());
          }
        }
      }
    }
  }
}
