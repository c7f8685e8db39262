package dev.outbox.spring.test;

import dev.outbox.testing.RecordingOutbox;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tells a recording outbox how Spring's transactions end. A transaction is known by the
 * synchronization that is registered with it: Spring takes that along when it suspends one
 * transaction for another.
 */
final class SpringTransactions {
  private final RecordingOutbox<Joined> outbox = RecordingOutbox.joining(this::current);

  RecordingOutbox<Joined> outbox() {
    return outbox;
  }

  /**
   * The transaction that is active in this thread.
   *
   * @throws IllegalStateException when none is
   */
  Joined join() {
    Joined joined = current();
    if (joined == null) {
      joined = new Joined(outbox);
      TransactionSynchronizationManager.registerSynchronization(joined);
    }
    return joined;
  }

  private @Nullable Joined current() {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      for (TransactionSynchronization known :
          TransactionSynchronizationManager.getSynchronizations()) {
        if (known instanceof Joined joined && joined.outbox == outbox) {
          return joined;
        }
      }
    }
    return null;
  }

  /** One transaction. */
  static final class Joined implements TransactionSynchronization {
    private final RecordingOutbox<Joined> outbox;
    private final Map<Object, Integer> savepoints = new HashMap<>();

    private Joined(RecordingOutbox<Joined> outbox) {
      this.outbox = outbox;
    }

    /** So that whoever else is told of the commit finds the messages. */
    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void savepoint(Object savepoint) {
      savepoints.put(savepoint, outbox.pending(this).size());
    }

    /** An unknown savepoint is older than the first message. */
    @Override
    public void savepointRollback(Object savepoint) {
      outbox.rolledBack(this, savepoints.getOrDefault(savepoint, 0));
    }

    @Override
    public void afterCommit() {
      outbox.committed(this);
    }

    /** Also when it is not known whether it was committed: its commit has failed. */
    @Override
    public void afterCompletion(int status) {
      if (status != STATUS_COMMITTED) {
        outbox.rolledBack(this);
      }
    }
  }
}
