package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.OnServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;

/** The suites of a store and of its inbox on MySQL. */
interface OnMysql extends OnServer {
  @Override
  default DatabaseServer server() {
    return DatabaseServer.mysql();
  }

  @Override
  default TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  default String earlier(String column, long millis) {
    return "%s - interval %d microsecond".formatted(column, millis * 1_000);
  }
}
