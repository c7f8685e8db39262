package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.RelayListener;
import dev.outbox.spi.store.OutboxStore;

/** Makes the meters of further outboxes; an interface, because their classes may be missing. */
interface MoreMeters {
  /** Those of an outbox, for its relay, with its name as the tag {@code database}. */
  RelayListener of(String name, OutboxStore<?> store);
}
