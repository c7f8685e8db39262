package dev.outbox.store.mysql;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/** The TCK on MariaDB. */
class MariadbStoreTest extends MysqlStoreTck {

  @Override
  protected DatabaseServer server() {
    return DatabaseServer.mariadb();
  }

  @Override
  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MariadbOutboxStore.builder(dataSource);
  }
}
