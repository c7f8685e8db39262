package dev.outbox.store.memory;

import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of a {@link MemoryOutboxStore}, and of the {@link MemoryInboxStore} beside it; any
 * number may be open at once. Used by one thread at a time, and to be ended by {@link #commit} or
 * {@link #rollback}. A second call of either does nothing.
 */
public final class MemoryTransaction {
  /** Whose it is; its lock is that of everything. */
  final MemoryOutboxStore store;

  /** What was appended and is not visible yet. */
  final List<Row> rows = new ArrayList<>();

  /** What a rollback does, the last first. */
  final Deque<Runnable> undo = new ArrayDeque<>();

  /** The transaction whose end this one waits for. */
  private @Nullable MemoryTransaction waitsFor;

  boolean active = true;

  MemoryTransaction(MemoryOutboxStore store) {
    this.store = store;
  }

  /**
   * Waits for the end of this transaction, under the store's lock.
   *
   * @param waiting who waits; null: nobody can wait for that
   */
  void awaitEnd(@Nullable MemoryTransaction waiting) {
    for (MemoryTransaction t = this; t != null && waiting != null; t = t.waitsFor) {
      if (t == waiting) {
        throw new TransientOutboxException(
            "deadlock: two transactions wait for each other's keys; roll back and run this one"
                + " again");
      }
    }
    if (waiting != null) {
      waiting.waitsFor = this;
    }
    try {
      store.wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PermanentOutboxException("interrupted while waiting for another transaction", e);
    } finally {
      if (waiting != null) {
        waiting.waitsFor = null;
      }
    }
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
