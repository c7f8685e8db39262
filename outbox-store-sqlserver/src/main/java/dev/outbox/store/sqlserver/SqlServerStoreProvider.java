package dev.outbox.store.sqlserver;

import dev.outbox.spi.OutboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

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
    SqlServerOutboxStore.Builder builder =
        SqlServerOutboxStore.builder(dataSource)
            .schema(settings.schema())
            .prefix(settings.prefix());
    if (settings.dedupWindow() != null) {
      builder.dedupWindow(settings.dedupWindow());
    }
    return builder.build();
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "S0001".equals(e.getSQLState());
  }
}
