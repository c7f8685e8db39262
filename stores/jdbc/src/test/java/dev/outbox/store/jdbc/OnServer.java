package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import java.util.function.Consumer;

/** What the suites of a store and of its inbox have in common: the server that they run on. */
public interface OnServer {

  /** The server to run against. */
  DatabaseServer server();

  /** A schema of its own. */
  TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings);

  /** An expression for a column of a table, some milliseconds earlier. */
  String earlier(String column, long millis);
}
