package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcInboxTck;
import javax.sql.DataSource;

/** The TCK of inboxes on MySQL; also what {@code ./outbox tck} runs in a user's own database. */
public class MysqlInboxTck extends JdbcInboxTck implements OnMysql {

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return MysqlInboxStore.builder(dataSource);
  }
}
