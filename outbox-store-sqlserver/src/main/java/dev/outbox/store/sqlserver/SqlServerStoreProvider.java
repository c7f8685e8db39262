package dev.outbox.store.sqlserver;

import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.util.Map;

/** Opens the store of a URL of SQL Server. */
public final class SqlServerStoreProvider extends JdbcStoreProvider {

  public SqlServerStoreProvider() {
    super(
        "sqlserver",
        "SQL Server",
        "jdbc:sqlserver://host:1433;databaseName=name",
        "com.microsoft.sqlserver.jdbc.SQLServerDriver",
        "S0001",
        SqlServerOutboxStore::builder,
        SqlServerInboxStore::builder);
  }

  /**
   * Keeps prepared statements for the connection's next transaction: else each batch is prepared
   * anew, in round trips of its own. There is room for all statements of a store and its inbox.
   */
  @Override
  protected Map<String, String> poolSettings() {
    return Map.of("disableStatementPooling", "false", "statementPoolingCacheSize", "100");
  }
}
