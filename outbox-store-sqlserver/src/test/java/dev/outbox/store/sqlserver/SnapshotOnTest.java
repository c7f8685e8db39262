package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;

/** The TCK with READ_COMMITTED_SNAPSHOT on, as Azure SQL has it. */
class SnapshotOnTest extends SqlServerStoreTck {
  private OwnDatabase own;

  @Override
  public DatabaseServer server() {
    own = new OwnDatabase(super.server(), true);
    return own;
  }

  @Override
  protected void configure(HikariConfig config) {
    config.setCatalog(own.name());
  }

  @Override
  protected int load() {
    return 500;
  }
}
