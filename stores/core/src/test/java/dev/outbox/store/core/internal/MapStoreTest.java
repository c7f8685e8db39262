package dev.outbox.store.core.internal;

/** As in the relational databases: more buckets are leased in the transaction of a settle. */
class MapStoreTest extends MapStoreTck {
  MapStoreTest() {
    super(false);
  }
}
