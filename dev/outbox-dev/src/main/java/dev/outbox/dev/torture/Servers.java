package dev.outbox.dev.torture;

import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.embedded.EmbeddedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The database and the broker, with a proxy before each that all processes use. */
final class Servers implements AutoCloseable {
  private final Settings settings;
  private final TcpProxy toDatabase = new TcpProxy();
  private final TcpProxy toBroker = new TcpProxy();
  private final Tortured database;
  private final Broker broker;

  Servers(Settings settings, int keys) throws Exception {
    this.settings = settings;
    database = start(settings, keys);
    toDatabase.target(database.port());
    broker = settings.broker().open(null, "", Work.topics());
    broker.start(toBroker.port());
    toBroker.target(broker.server().port());
    broker.createTopics();
  }

  /** With an outbox, an inbox, and what producers and consumers need beside them. */
  private static Tortured start(Settings settings, int keys) {
    Tortured started =
        settings.database() == StoreKind.REDIS
            ? RedisTortured.start()
            : JdbcTortured.start(Dialect.of(settings.database()), settings.archive());
    started.place().create(keys);
    started.place().createInbox();
    return started;
  }

  /** What a process needs to reach both. */
  Map<String, String> settings() {
    Map<String, String> all = new LinkedHashMap<>(database.settings(toDatabase.port()));
    all.put("database", settings.database().name());
    all.put("archive", settings.archive().name());
    all.put("broker", settings.broker().name());
    all.put("broker-address", broker.address());
    return all;
  }

  /** All that the broker has, in the order of each partition; by way of the proxy too. */
  List<Delivery> log() throws InterruptedException {
    List<Delivery> log = new ArrayList<>();
    try (Source source = broker.source(Reading.WHOLE)) {
      source.read(() -> true, message -> log.add(Delivery.of(message)));
    }
    return log;
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
    broker.close();
    database.close();
  }
}
