package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayListener;
import dev.outbox.spi.store.OutboxStore;

/** Makes the meters of further outboxes; an interface, because their classes may be missing. */
interface MoreMeters {
  /** Those of an outbox, with its name as the tag {@code database}. */
  Meters of(String name, OutboxStore<?> store);

  /**
   * Those of one outbox.
   *
   * @param listener of its relay
   */
  record Meters(RelayListener listener, LastReading reading) {}
}
