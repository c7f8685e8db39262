package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.OutboxStore;

/** The same outbox as the application's store, on connections that are the relay's own. */
record RelayStore(OutboxStore<?> store) {}
