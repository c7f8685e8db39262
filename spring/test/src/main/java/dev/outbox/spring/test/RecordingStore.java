package dev.outbox.spring.test;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import java.util.List;

/**
 * Takes the store's place, so that an append goes through everything that it goes through in the
 * application, except for the last step. Spring is asked for the transaction, whatever its type is.
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
