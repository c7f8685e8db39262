package dev.outbox.store.core.internal;

/** As in MongoDB: a lease comes first in its transaction. */
class MapStoreLeasesApartTest extends MapStoreTck {
  MapStoreLeasesApartTest() {
    super(true);
  }
}
