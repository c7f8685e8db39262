package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;

/**
 * The TCK with READ_COMMITTED_SNAPSHOT off, and with everything different that a pool may set:
 * connections that come with auto-commit off, SERIALIZABLE, texts sent as varchar.
 */
class SnapshotOffTest extends SqlServerStoreTck {
  private OwnDatabase own;

  @Override
  public DatabaseServer server() {
    own = new OwnDatabase(super.server(), false);
    return own;
  }

  @Override
  protected void configure(HikariConfig config) {
    config.setCatalog(own.name());
    vary(config);
  }

  static void vary(HikariConfig config) {
    config.setAutoCommit(false);
    config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
    config.addDataSourceProperty("sendStringParametersAsUnicode", "false");
  }

  @Override
  protected int load() {
    return 500;
  }
}
