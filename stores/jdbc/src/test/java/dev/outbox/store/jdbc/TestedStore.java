package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A store of ours, its inbox, and where their tests have a database. */
public interface TestedStore {
  /** A server for one suite. */
  DatabaseServer start();

  /** The server that all test classes of a module share: it ends with the JVM. */
  DatabaseServer shared();

  /**
   * A schema of its own.
   *
   * @param settings changes the pool's settings
   */
  TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings);

  /** The same on the shared server. */
  default TestDatabase database(Consumer<HikariConfig> settings) {
    return database(shared(), settings);
  }

  JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource);

  /** The inbox on the same database. */
  JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource);

  /** The server's time, as an expression that gives another one in each statement. */
  String now();

  /** An expression for a column of a table, some milliseconds earlier. */
  String earlier(String column, long millis);
}
