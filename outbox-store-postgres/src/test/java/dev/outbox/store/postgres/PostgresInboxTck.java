package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcInboxTck;
import javax.sql.DataSource;

/**
 * The TCK of inboxes on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database.
 */
public class PostgresInboxTck extends JdbcInboxTck implements OnPostgres {

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return PostgresInboxStore.builder(dataSource);
  }
}
