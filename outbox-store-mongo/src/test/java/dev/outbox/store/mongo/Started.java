package dev.outbox.store.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.outbox.embedded.TestServer;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import org.opentest4j.TestAbortedException;

/** The server of a suite and a database on it, from the first test to the last. */
final class Started implements AutoCloseable {
  final String database =
      System.getProperty("outbox.test.schema", "outbox_test")
          + "_"
          + UUID.randomUUID().toString().substring(0, 8);
  private TestServer server;
  private TestAbortedException noServer;
  private MongoClient client;

  /** Whether there is a server. */
  boolean start(Consumer<MongoClientSettings.Builder> configure) {
    try {
      server = TestServer.mongo();
    } catch (TestAbortedException e) {
      noServer = e;
      return false;
    }
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(server.address()))
            .applicationName(database);
    configure.accept(settings);
    client = MongoClients.create(settings.build());
    return true;
  }

  /** Skips each test with the reason when there is no server: reports list them. */
  MongoClient client() {
    if (noServer != null) {
      throw noServer;
    }
    return Objects.requireNonNull(client, "not started");
  }

  MongoDatabase database() {
    return client().getDatabase(database);
  }

  @Override
  public void close() {
    if (client != null) {
      database().drop();
      client.close();
    }
    if (server != null) {
      server.close();
    }
  }
}
