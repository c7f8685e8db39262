package dev.outbox.store.sqlserver;

import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcInboxTck;
import javax.sql.DataSource;

/**
 * The TCK of inboxes on SQL Server; also what {@code ./outbox tck} runs in a user's own database.
 */
public class SqlServerInboxTck extends JdbcInboxTck {
  public SqlServerInboxTck() {
    super(new SqlServer());
  }

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return super.builder(dataSource).schema(database().schema());
  }

  /** T-SQL lets no connection choose its schema, so the tables are named with it. */
  @Override
  protected String named(String sql) {
    return sql.replace(PrefixedNames.INBOX_PREFIX, database().schema() + "." + prefix());
  }
}
