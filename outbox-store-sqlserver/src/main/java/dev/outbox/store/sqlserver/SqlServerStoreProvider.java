package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of SQL Server. */
public final class SqlServerStoreProvider extends JdbcStoreProvider {

  public SqlServerStoreProvider() {
    super(
        "sqlserver",
        "SQL Server",
        "jdbc:sqlserver://host:1433;databaseName=name",
        "com.microsoft.sqlserver.jdbc.SQLServerDriver");
  }

  @Override
  public OutboxStore<Connection> store(DataSource dataSource, Settings settings) {
    return with(settings, SqlServerOutboxStore.builder(dataSource)).build();
  }

  @Override
  public JdbcInboxStore inbox(
      DataSource dataSource, @Nullable String schema, String prefix, Duration retention) {
    return SqlServerInboxStore.builder(dataSource)
        .schema(schema)
        .prefix(prefix)
        .retention(retention)
        .build();
  }

  /**
   * Keeps prepared statements for the connection's next transaction: else each batch is prepared
   * anew, in round trips of its own. There is room for all statements of a store and its inbox.
   */
  @Override
  protected Map<String, String> poolSettings() {
    return Map.of("disableStatementPooling", "false", "statementPoolingCacheSize", "100");
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "S0001".equals(e.getSQLState());
  }
}
