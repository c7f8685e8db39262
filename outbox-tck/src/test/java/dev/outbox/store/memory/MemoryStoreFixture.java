package dev.outbox.store.memory;

import dev.outbox.spi.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.OutboxStoreTck;
import java.time.Duration;
import java.util.function.Consumer;

/** The suite over a memory store, with all that can be unlocked in memory. */
public abstract class MemoryStoreFixture extends OutboxStoreTck<MemoryTransaction>
    implements AutoCommit<MemoryTransaction> {
  final MemoryOutboxStore store;

  protected MemoryStoreFixture() {
    store = newStore();
  }

  MemoryOutboxStore newStore() {
    return new MemoryOutboxStore();
  }

  @Override
  protected OutboxStore<MemoryTransaction> createStore() {
    return store;
  }

  @Override
  protected void inTransaction(Consumer<MemoryTransaction> work) {
    store.inTransaction(work);
  }

  @Override
  protected void reset() {
    store.clear();
  }

  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(60);
  }

  @Override
  public void withoutTransaction(Consumer<MemoryTransaction> work) {
    MemoryTransaction ended = store.begin();
    ended.rollback();
    work.accept(ended);
  }
}
