package dev.outbox.store.mysql;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import javax.sql.DataSource;

/** The TCK on MariaDB; also what {@code ./outbox tck} runs in a user's own database. */
public class MariadbStoreTck extends MysqlStoreTck {

  @Override
  public DatabaseServer server() {
    return DatabaseServer.mariadb();
  }

  @Override
  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MariadbOutboxStore.builder(dataSource);
  }
}
