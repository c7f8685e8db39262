package dev.outbox.tck;

import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;

/** Unlocks the test of the end of the dedup window (A4). */
public interface DedupWindows<T> {

  /** As {@link OutboxStoreTck#createStore}, with another dedup window. */
  OutboxStore<T> createStore(Duration dedupWindow);
}
