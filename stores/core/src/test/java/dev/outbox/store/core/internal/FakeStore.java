package dev.outbox.store.core.internal;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.BucketStore;
import java.util.List;
import java.util.OptionalInt;

/** A store on a {@link FakeDatabase}, for what comes after append. */
final class FakeStore extends BucketStore<Void> {

  /** How often the schema was looked at. */
  int checked;

  FakeStore(FakeDatabase database) {
    super(
        new StoreOperations<>(
            database.asked(),
            database.transactions,
            DEFAULT_DEDUP_WINDOW,
            History.NONE,
            () -> database.clock),
        handle -> {
          throw new UnsupportedOperationException();
        });
  }

  @Override
  public Appended append(Void transaction, List<OutboxMessage> messages) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected void checkSchema() {
    checked++;
  }

  @Override
  protected void migrateSchema() {}

  @Override
  public String place() {
    return "nowhere";
  }

  @Override
  public String ddl() {
    return "";
  }

  @Override
  public OptionalInt maxConnections() {
    return OptionalInt.empty();
  }
}
