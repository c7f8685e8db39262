package dev.outbox.store.jdbc;

import dev.outbox.embedded.DatabaseServer;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.opentest4j.TestAbortedException;

/** The server of a suite and a schema on it, from the first test to the last. */
final class Started implements AutoCloseable {
  private DatabaseServer server;
  private TestAbortedException noServer;
  private TestDatabase database;

  /** Whether there is a server. */
  boolean start(
      Supplier<DatabaseServer> servers, Function<DatabaseServer, TestDatabase> databases) {
    try {
      server = servers.get();
    } catch (TestAbortedException e) {
      noServer = e;
      return false;
    }
    database = databases.apply(server);
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
