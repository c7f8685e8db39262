package dev.outbox.tck.store;

import dev.outbox.Archive;
import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Unlocks the tests of the archive (S7). The store implements {@link
 * dev.outbox.spi.store.ArchiveStore}, and {@link OutboxStoreTck#reset} empties the archive and the
 * audit too.
 */
public interface Archives<T> {

  /**
   * As {@link OutboxStoreTck#createStore}, on the same database, with this archive.
   *
   * @param deadLetterRetention for so long dead letters that halt no key are kept; null: for ever
   */
  OutboxStore<T> createStore(Archive archive, @Nullable Duration deadLetterRetention);
}
