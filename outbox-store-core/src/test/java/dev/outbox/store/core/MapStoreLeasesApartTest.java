package dev.outbox.store.core;

/** As in MongoDB: a lease comes first in its transaction. */
class MapStoreLeasesApartTest extends MapStoreTck {
  MapStoreLeasesApartTest() {
    super(true);
  }
}
