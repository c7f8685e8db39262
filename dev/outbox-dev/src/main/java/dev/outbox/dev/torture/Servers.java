package dev.outbox.dev.torture;

import static java.util.Objects.requireNonNull;

import dev.outbox.cli.Address;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StartedServer;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.database.Tortured;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.torture.Oracle.Delivery;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.TcpProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The database and the broker, with a proxy before each that all processes use. */
final class Servers {
  /** Those that can be started and killed here. */
  static final List<StoreKind> DATABASES =
      List.of(StoreKind.POSTGRES, StoreKind.MYSQL, StoreKind.MARIADB, StoreKind.REDIS);

  /** How long a client waits for an answer; about as long as a lease lasts. */
  static final Duration PATIENCE = Duration.ofSeconds(4);

  /** Of those that ask, and of snapshots that are held. */
  private static final int CONNECTIONS = 8;

  private static final Duration TO_CONNECT = Duration.ofSeconds(5);
  private static final Duration TO_WAIT = Duration.ofSeconds(2);

  private final Torture.Settings settings;
  final TcpProxy toDatabase;
  final TcpProxy toBroker;
  private final StartedServer database;
  private final Address direct;

  /** The database, asked directly; it may be away. */
  final Tortured<?> place;

  final Broker broker;

  /**
   * With an outbox, an inbox, and what producers and consumers need beside them.
   *
   * @param resources get what is to be closed, as soon as it is open
   */
  Servers(Torture.Settings settings, int keys, Resources resources) throws IOException {
    this.settings = settings;
    database = resources.add(settings.database().start(Map.of("max_connections", "60")));
    direct = database.address();
    place =
        (Tortured<?>)
            resources.add(
                settings.database().place(direct, settings.archive(), CONNECTIONS, TO_WAIT));
    // The first connection takes long on a busy machine, and a pool waits but for TO_WAIT.
    place.connect().ifPresent(Tortured::close);
    place.create(keys);
    place.createInbox();
    toDatabase = resources.add(new TcpProxy());
    toDatabase.target(database().port());
    broker = resources.add(settings.broker().open(null, "", Work.TOPICS));
    toBroker = resources.add(new TcpProxy());
    broker.start(toBroker.port());
    toBroker.target(broker.server().port());
    broker.createTopics();
  }

  /** What a process needs to reach both, by way of the proxies. */
  Map<String, String> settings() {
    String url = direct.url().replaceFirst("127.0.0.1:\\d+", "127.0.0.1:" + toDatabase.port());
    String options =
        switch (settings.database()) {
          case REDIS -> "";
          case POSTGRES ->
              "?socketTimeout=%s&connectTimeout=%s"
                  .formatted(PATIENCE.toSeconds(), TO_CONNECT.toSeconds());
          default ->
              "&socketTimeout=%s&connectTimeout=%s"
                  .formatted(PATIENCE.toMillis(), TO_CONNECT.toMillis());
        };
    Address proxied = new Address(url + options, direct.user(), direct.password());
    Map<String, String> all = new LinkedHashMap<>(Place.settings(proxied));
    all.putAll(broker.settings());
    all.put("database", settings.database().name());
    all.put("archive", settings.archive().name());
    return all;
  }

  /** All that the broker has, in the order of each partition; by way of the proxy too. */
  List<Delivery> log() throws InterruptedException {
    List<Delivery> log = new ArrayList<>();
    try (Source source = broker.source(Source.Reading.WHOLE)) {
      source.read(
          () -> true,
          m ->
              log.add(
                  new Delivery(m.partition(), m.offset(), m.id(), m.key(), Work.nth(m.payload()))));
    }
    return log;
  }

  EmbeddedServer database() {
    return requireNonNull(database.embedded());
  }

  /** Saves what the servers logged. */
  void copyLogs(Path directory) throws IOException {
    database().copyLog(directory.resolve("database.log"));
    broker.server().copyLog(directory.resolve("broker.log"));
  }
}
