package dev.outbox.spring;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Transactions of something that has no database. */
public final class Others extends AbstractPlatformTransactionManager {
  private static final long serialVersionUID = 1L;

  @Override
  protected Object doGetTransaction() {
    return this;
  }

  @Override
  protected void doBegin(Object transaction, TransactionDefinition definition) {}

  @Override
  protected void doCommit(DefaultTransactionStatus status) {}

  @Override
  protected void doRollback(DefaultTransactionStatus status) {}
}
