package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.store.jdbc.TestedStore;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** SQL Server for the tests that all relational stores share. */
final class SqlServer implements TestedStore {
  @Override
  public DatabaseServer start() {
    return DatabaseServer.sqlServer();
  }

  @Override
  public DatabaseServer shared() {
    return start();
  }

  @Override
  public TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return SqlServerOutboxStore.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return SqlServerInboxStore.builder(dataSource);
  }

  @Override
  public String now() {
    return "sysutcdatetime()";
  }

  @Override
  public String earlier(String column, long millis) {
    return "dateadd(millisecond, %d, dateadd(second, %d, %s))"
        .formatted(-(millis % 1_000), -(millis / 1_000), column);
  }
}
