package dev.outbox.tck.store;

import dev.outbox.Archive;
import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;

/**
 * Unlocks the tests of dead letters that expire (S7). {@link OutboxStore#housekeep} removes them.
 */
public interface DeadLetterRetentions<T> extends Archives<T> {

  /** As {@link Archives#createStore}, and dead letters that halt no key are kept for so long. */
  OutboxStore<T> createStore(Archive archive, Duration deadLetterRetention);
}
