package dev.outbox.store.mysql;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import javax.sql.DataSource;

/** The TCK of inboxes on MariaDB; also what {@code ./outbox tck} runs in a user's own database. */
public class MariadbInboxTck extends MysqlInboxTck {

  @Override
  public DatabaseServer server() {
    return DatabaseServer.mariadb();
  }

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MariadbInboxStore.builder(dataSource);
  }
}
