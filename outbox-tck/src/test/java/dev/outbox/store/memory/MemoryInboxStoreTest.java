package dev.outbox.store.memory;

/** The memory inbox passes everything. */
class MemoryInboxStoreTest extends MemoryInboxFixture {}
