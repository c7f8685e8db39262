package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import java.util.Objects;
import java.util.function.Consumer;
import org.opentest4j.TestAbortedException;

/** The server of a suite and a schema on it, from the first test to the last. */
final class Started implements AutoCloseable {
  private DatabaseServer server;
  private TestAbortedException noServer;
  private TestDatabase database;

  /** Whether there is a server. */
  boolean start(OnServer suite, Consumer<HikariConfig> settings) {
    try {
      server = suite.server();
    } catch (TestAbortedException e) {
      noServer = e;
      return false;
    }
    database = suite.database(server, settings);
    return true;
  }

  DatabaseServer server() {
    return server;
  }

  /** Skips each test with the reason when there is no server: reports list them. */
  TestDatabase database() {
    if (noServer != null) {
      throw noServer;
    }
    return Objects.requireNonNull(database, "not started");
  }

  @Override
  public void close() {
    if (database != null) {
      database.close();
    }
    if (server != null) {
      server.close();
    }
  }
}
