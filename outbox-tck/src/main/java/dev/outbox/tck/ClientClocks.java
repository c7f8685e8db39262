package dev.outbox.tck;

import dev.outbox.spi.store.OutboxStore;
import java.time.Clock;

/**
 * Unlocks the tests of clients whose clocks are wrong, for stores that look at their client's clock
 * at all (T1).
 *
 * @param <T> the transaction's type
 */
public interface ClientClocks<T> {

  /**
   * As {@link OutboxStoreTck#createStore()}, on a machine whose clock is this one: the store takes
   * the client's time from it wherever it takes it.
   */
  OutboxStore<T> createStore(Clock clientClock);
}
