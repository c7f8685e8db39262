package dev.outbox.store.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of a {@link MemoryOutboxStore}; any number may be open at once. Used by one thread
 * at a time, and to be ended by {@link #commit} or {@link #rollback}. A second call of either does
 * nothing.
 */
public final class MemoryTransaction {
  final MemoryOutboxStore store;

  /** What was appended and is not visible yet. */
  final List<Row> rows = new ArrayList<>();

  /** The transaction whose end an append of this one waits for. */
  @Nullable MemoryTransaction waitsFor;

  boolean active = true;

  MemoryTransaction(MemoryOutboxStore store) {
    this.store = store;
  }

  /** Makes visible what was appended (A1). */
  public void commit() {
    store.commit(this);
  }

  /** Forgets what was appended (A1). */
  public void rollback() {
    store.rollback(this);
  }

  /** True until it is committed or rolled back. */
  public boolean isActive() {
    synchronized (store) {
      return active;
    }
  }
}
