package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.OnServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;

/** The suites of a store and of its inbox on SQL Server. */
interface OnSqlServer extends OnServer {
  @Override
  default DatabaseServer server() {
    return DatabaseServer.sqlServer();
  }

  @Override
  default TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  default String earlier(String column, long millis) {
    return "dateadd(millisecond, %d, dateadd(second, %d, %s))"
        .formatted(-(millis % 1_000), -(millis / 1_000), column);
  }
}
