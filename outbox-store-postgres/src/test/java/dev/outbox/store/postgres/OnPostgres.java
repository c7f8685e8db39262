package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.OnServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;

/** The suites of a store and of its inbox on PostgreSQL. */
interface OnPostgres extends OnServer {
  @Override
  default DatabaseServer server() {
    return DatabaseServer.postgres();
  }

  @Override
  default TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  default String earlier(String column, long millis) {
    return "%s - %d * interval '1 millisecond'".formatted(column, millis);
  }
}
