package dev.outbox.tck;

import dev.outbox.spi.store.InboxStore;
import java.time.Duration;

/** Unlocks the tests of what an inbox forgets (I8). */
public interface Retentions<T> {

  /** As {@link InboxStoreTck#createStore}, with another retention. */
  InboxStore<T> createStore(Duration retention);
}
