package dev.outbox.store.core;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.store.core.internal.Engine;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A {@link BucketStore} that can keep what leaves it in an archive, with an audit beside it. Use
 * the store of your database; this is the type to name where any of them may come.
 *
 * @param <T> the type of the transactions that messages are appended in
 */
public abstract class ArchivingStore<T> extends BucketStore<T> implements ArchiveStore {
  private final Engine<?> engine;
  private final BiFunction<List<Archived>, Who, Appended> replay;

  /**
   * @param transaction of the store's own, as one that messages are appended in
   */
  protected <H> ArchivingStore(Engine<H> engine, Function<H, T> transaction) {
    super(engine);
    this.engine = engine;
    replay =
        (messages, by) ->
            engine.replay(
                messages, by, (handle, again) -> append(transaction.apply(handle), again));
  }

  @Override
  public final Archive archive() {
    return engine.archive();
  }

  @Override
  public final List<Archived> archived(Search search, int limit) {
    return engine.archived(search, limit);
  }

  @Override
  public final Appended replay(List<Archived> messages, Who by) {
    return replay.apply(messages, by);
  }

  @Override
  public final Set<Long> requeue(Set<Long> sequences, Who by) {
    return engine.requeue(sequences, by);
  }

  @Override
  public final Set<Long> discard(Set<Long> sequences, Who by) {
    return engine.discard(sequences, by);
  }

  @Override
  public final List<Entry> audit(Instant from, int limit) {
    return engine.audit(from, limit);
  }
}
