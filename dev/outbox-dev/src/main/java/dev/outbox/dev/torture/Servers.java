package dev.outbox.dev.torture;

import dev.outbox.embedded.EmbeddedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The database and the broker, with a proxy before each that all processes use. */
final class Servers implements AutoCloseable {
  private final Settings settings;
  private final TcpProxy toDatabase = new TcpProxy();
  private final TcpProxy toBroker = new TcpProxy();
  private final Tortured database;
  private final Broker.Started broker;

  Servers(Settings settings, int keys) throws Exception {
    this.settings = settings;
    database = Tortured.start(settings, keys);
    toDatabase.target(database.port());
    broker = Broker.start(settings.broker(), toBroker);
    client().createTopics();
  }

  /** What a process needs to reach both. */
  Map<String, String> settings() {
    Map<String, String> all = new LinkedHashMap<>(database.settings(toDatabase.port()));
    all.put("database", settings.database());
    all.put("archive", settings.archive().name());
    all.put("broker", settings.broker().name());
    all.put("broker-address", broker.address());
    return all;
  }

  /** For clients of our own, by way of the proxy too. */
  Broker client() {
    return Broker.of(settings.broker(), broker.address());
  }

  TcpProxy toDatabase() {
    return toDatabase;
  }

  TcpProxy toBroker() {
    return toBroker;
  }

  Tortured database() {
    return database;
  }

  EmbeddedServer broker() {
    return broker.server();
  }

  /** Saves what the servers logged. */
  void copyLogs(Path directory) throws IOException {
    for (EmbeddedServer server : List.of(database.server(), broker())) {
      if (Files.exists(server.log())) {
        Files.copy(
            server.log(),
            directory.resolve(server == broker() ? "broker.log" : "database.log"),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @Override
  public void close() throws Exception {
    toDatabase.close();
    toBroker.close();
    broker().close();
    database.close();
  }
}
