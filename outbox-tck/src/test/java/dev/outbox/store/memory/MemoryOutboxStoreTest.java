package dev.outbox.store.memory;

import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.OutboxStoreProperties;
import org.junit.jupiter.api.Nested;

/** The memory store passes everything. */
class MemoryOutboxStoreTest extends MemoryStoreFixture implements ExpiresMessages {

  @Nested
  class Properties extends OutboxStoreProperties<MemoryTransaction> {}
}
