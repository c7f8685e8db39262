package dev.outbox.store.mysql;

import dev.outbox.embedded.DatabaseServer;
import org.junit.jupiter.api.Tag;

/** The TCK on one of a cluster's three nodes, to which all write. It takes some minutes. */
@Tag("matrix")
class GaleraStoreTest extends MariadbStoreTck {

  @Override
  public DatabaseServer server() {
    return Galera.nodes().get(0);
  }

  @Override
  protected int load() {
    return 500;
  }
}
