package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.PermanentOutboxException;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.JoinedInbox;
import java.util.List;
import java.util.Set;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Joins the transactions that Spring manages. One that has handled a message and would be rolled
 * back in silence by its commit fails instead: the message would be acknowledged, and be lost. Not
 * final, so that Spring can put an aspect around it.
 */
class SpringInbox<T> implements JoinedInbox, TransactionSynchronization {
  private final Inbox<T> inbox;
  private final CurrentTransaction<T> current;
  private final JoinedInbox joined;

  SpringInbox(Inbox<T> inbox, CurrentTransaction<T> current) {
    this.inbox = inbox;
    this.current = current;
    this.joined = inbox.joining(current);
  }

  @Override
  public boolean firstTime(InboxKey key) {
    boolean first = joined.firstTime(key);
    if (first && TransactionSynchronizationManager.isSynchronizationActive()) {
      TransactionSynchronizationManager.registerSynchronization(this); // once: it keeps a set
    }
    return first;
  }

  /** Throws no TransactionException, after which Spring would not roll back. */
  @Override
  public void beforeCommit(boolean readOnly) {
    boolean[] failed = new boolean[1];
    Appended unused =
        current.with(
            transaction -> {
              failed[0] = inbox.hasFailed(transaction);
              return Appended.of(List.of(), Set.of());
            });
    if (failed[0]) {
      throw new PermanentOutboxException(
          "a statement of the transaction has failed, and its error was caught: nothing of the transaction can be committed, and the message comes again; let the error through, or catch it around a NESTED transaction");
    }
  }
}
