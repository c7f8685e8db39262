package dev.outbox.store.memory;

/** The memory store passes everything. */
class MemoryOutboxStoreTest extends MemoryStoreFixture {}
