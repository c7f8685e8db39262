package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.Outbox.CurrentTransaction;
import dev.outbox.PermanentOutboxException;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.JoinedInbox;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Joins the transactions that Spring manages. Where one has handled a message, and its commit would
 * be a rollback in silence, the commit fails: else the message would be acknowledged, and be lost.
 * Not final, so that Spring can put an aspect around it.
 */
class SpringInbox<T> implements JoinedInbox {
  private final Inbox<T> inbox;
  private final CurrentTransaction<T> current;

  SpringInbox(Inbox<T> inbox, CurrentTransaction<T> current) {
    this.inbox = inbox;
    this.current = current;
  }

  @Override
  public boolean firstTime(InboxKey key) {
    CurrentTransaction<T> looking =
        work ->
            current.with(
                transaction -> {
                  Appended done = work.apply(transaction);
                  lookBeforeCommit(transaction);
                  return done;
                });
    return inbox.joining(looking).firstTime(key);
  }

  private void lookBeforeCommit(T transaction) {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      TransactionSynchronizationManager.registerSynchronization(
          new BeforeCommit<>(inbox, transaction)); // equal ones are registered once
    }
  }

  /** Is called once more when all synchronizations were, by {@link HandOver#listenTo}. */
  record BeforeCommit<T>(Inbox<T> inbox, T transaction) implements TransactionSynchronization {

    /** Throws no TransactionException, after which Spring would not roll back. */
    @Override
    public void beforeCommit(boolean readOnly) {
      if (inbox.hasFailed(transaction)) {
        throw new PermanentOutboxException(
            "a statement of the transaction has failed, and its error was caught: nothing of the transaction can be committed, and the message comes again; let the error through, or catch it around a NESTED transaction");
      }
    }
  }
}
