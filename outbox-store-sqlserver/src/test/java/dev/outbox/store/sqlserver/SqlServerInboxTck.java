package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcInboxTck;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * The TCK of inboxes on SQL Server; also what {@code ./outbox tck} runs in a user's own database.
 */
public class SqlServerInboxTck extends JdbcInboxTck {

  @Override
  protected DatabaseServer server() {
    return DatabaseServer.sqlServer();
  }

  @Override
  protected TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return SqlServerInboxStore.builder(dataSource).schema(database().schema());
  }

  /** T-SQL lets no connection choose its schema, so the tables are named with it. */
  @Override
  protected String named(String sql) {
    return sql.replace(Names.INBOX_PREFIX, database().schema() + "." + prefix());
  }

  @Override
  protected String earlier(String column, long millis) {
    return "dateadd(millisecond, %d, dateadd(second, %d, %s))"
        .formatted(-(millis % 1_000), -(millis / 1_000), column);
  }
}
