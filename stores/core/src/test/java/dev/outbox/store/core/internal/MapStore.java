package dev.outbox.store.core.internal;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.internal.MapDatabase.Producer;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** A store on a {@link MapDatabase}. */
final class MapStore extends BucketStore<Producer> {
  private final MapDatabase database;

  /** How often the schema was looked at. */
  int looked;

  MapStore(MapDatabase database, Duration dedupWindow) {
    super(
        new StoreOperations<>(database.asked(), database, dedupWindow, History.NONE),
        MapDatabase::begin);
    this.database = database;
  }

  @Override
  public Appended append(Producer transaction, List<OutboxMessage> messages) {
    return Appended.of(messages, database.append(transaction, messages, dedupWindow()));
  }

  @Override
  protected void checkSchema() {
    looked++;
    database.checkSchema();
  }

  @Override
  protected void migrateSchema() {
    database.schemaVersion = MapDatabase.VERSION;
  }

  Duration window() {
    return dedupWindow();
  }

  @Override
  public String place() {
    return "a map";
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
