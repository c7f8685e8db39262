package dev.outbox.dev.database;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;

/**
 * A producer's transaction; rolled back when it is closed before it is committed. A relational
 * database begins another after each commit. What was appended in it is told of the commit, also
 * where it was rolled back to a savepoint, as by a framework that knows none.
 *
 * @param <T> a transaction of the database
 * @param appended what is not committed yet
 */
public record Business<T>(
    Place<T> place,
    BiFunction<T, List<OutboxMessage>, Uncommitted> appending,
    T transaction,
    List<Uncommitted> appended)
    implements AutoCloseable {

  public int lock(String key) {
    return place.lock(transaction, key);
  }

  /** Appends, and returns which are duplicates. */
  public Set<UUID> append(List<OutboxMessage> messages) {
    Uncommitted uncommitted = appending.apply(transaction, messages);
    appended.add(uncommitted);
    return uncommitted.appended().duplicates();
  }

  public void last(String key, int number) {
    place.last(transaction, key, number);
  }

  public void commit() {
    place.commit(transaction);
    appended.forEach(Uncommitted::committed);
    appended.clear();
  }

  @Override
  public void close() {
    place.end(transaction);
  }
}
