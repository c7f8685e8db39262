package dev.outbox.spring.test;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import java.util.List;

/**
 * Stands where the store stands, so that all that an append goes through in the application is
 * there too: only the last step is another one. Whichever the transaction's type is, it is Spring
 * that is asked for it.
 */
final class RecordingStore implements OutboxStore<Object> {
  private final SpringTransactions transactions;

  RecordingStore(SpringTransactions transactions) {
    this.transactions = transactions;
  }

  @Override
  public Appended append(Object transaction, List<OutboxMessage> messages) {
    return transactions.outbox().append(transactions.join(), messages);
  }

  @Override
  public Claim claim(Claim.Request request) {
    throw new UnsupportedOperationException(
        "a recording outbox has no tables that a relay could read: take @AutoConfigureOutbox for a test with a relay");
  }
}
