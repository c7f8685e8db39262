package dev.outbox.store.core;

import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;

/** A store on a {@link FakeDatabase}, for what comes after append. */
final class FakeStore extends BucketStore<Void, String> {

  FakeStore(FakeDatabase database) {
    super(database.statements(), database.transactions, DEFAULT_DEDUP_WINDOW, () -> database.clock);
  }

  @Override
  public Set<UUID> append(Void transaction, List<OutboxMessage> messages) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected void checkSchema() {}

  @Override
  protected void migrateSchema() {}

  @Override
  public String ddl() {
    return "";
  }

  @Override
  public OptionalInt maxConnections() {
    return OptionalInt.empty();
  }
}
