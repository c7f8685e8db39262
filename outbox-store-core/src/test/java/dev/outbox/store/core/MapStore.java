package dev.outbox.store.core;

import dev.outbox.OutboxMessage;
import dev.outbox.store.core.MapDatabase.Producer;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;

/** A store on a {@link MapDatabase}. */
final class MapStore extends BucketStore<Producer, MapDatabase> {
  private final MapDatabase database;

  MapStore(MapDatabase database, Duration dedupWindow) {
    super(database, database, dedupWindow);
    this.database = database;
  }

  @Override
  public Set<UUID> append(Producer transaction, List<OutboxMessage> messages) {
    return database.append(transaction, messages, dedupWindow());
  }

  @Override
  protected void checkSchema() {
    database.checkSchema();
  }

  @Override
  protected void migrateSchema() {
    database.schemaVersion = MapDatabase.VERSION;
  }

  @Override
  public String ddl() {
    return "nothing to do";
  }

  @Override
  public OptionalInt maxConnections() {
    return OptionalInt.empty();
  }
}
