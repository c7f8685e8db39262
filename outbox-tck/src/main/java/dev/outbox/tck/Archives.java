package dev.outbox.tck;

import dev.outbox.Archive;
import dev.outbox.spi.store.OutboxStore;

/**
 * Unlocks the tests of the archive (S7). The store implements {@link
 * dev.outbox.spi.store.ArchiveStore}, and {@link OutboxStoreTck#reset} empties the archive and the
 * audit too.
 */
public interface Archives<T> {

  /** As {@link OutboxStoreTck#createStore}, on the same database, with this archive. */
  OutboxStore<T> createStore(Archive archive);
}
