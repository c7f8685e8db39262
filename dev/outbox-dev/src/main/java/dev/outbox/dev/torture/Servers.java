package dev.outbox.dev.torture;

import dev.outbox.cli.Address;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.database.Jdbc;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.RedisPlace;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.database.Tortured;
import dev.outbox.dev.database.Work;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.EmbeddedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import redis.clients.jedis.exceptions.JedisException;

/** The database and the broker, with a proxy before each that all processes use. */
final class Servers implements AutoCloseable {
  /** Those that can be started and killed here. */
  static final List<StoreKind> DATABASES =
      List.of(StoreKind.POSTGRES, StoreKind.MYSQL, StoreKind.MARIADB, StoreKind.REDIS);

  /** How long a client waits for an answer; about as long as a lease lasts. */
  static final Duration PATIENCE = Duration.ofSeconds(4);

  private static final Duration TO_CONNECT = Duration.ofSeconds(5);

  private final Torture.Settings settings;
  private final TcpProxy toDatabase = new TcpProxy();
  private final TcpProxy toBroker = new TcpProxy();
  private final EmbeddedServer database;
  private final Address direct;
  private final Tortured<?> place;
  private final Broker broker;

  /** With an outbox, an inbox, and what producers and consumers need beside them. */
  Servers(Torture.Settings settings, int keys) throws Exception {
    this.settings = settings;
    if (settings.database() == StoreKind.REDIS) {
      EmbeddedRedis redis = EmbeddedRedis.start("--maxclients", "100");
      database = redis;
      direct = new Address(redis.url(), "", "");
      place = new RedisPlace(redis.url(), 2);
    } else {
      DatabaseServer server = start(settings.database());
      database = server.embedded().orElseThrow();
      direct = new Address(server.jdbcUrl(), server.user(), server.password());
      Duration patience = Duration.ofSeconds(2);
      place =
          JdbcPlace.patient(settings.database().jdbc(), direct, settings.archive(), 4, patience);
    }
    place.create(keys);
    place.createInbox();
    toDatabase.target(Integer.parseInt(direct.url().replaceFirst(".*127.0.0.1:(\\d+).*", "$1")));
    broker = settings.broker().open(null, "", Work.topics());
    broker.start(toBroker.port());
    toBroker.target(broker.server().port());
    broker.createTopics();
  }

  private static DatabaseServer start(StoreKind kind) {
    String most = "60";
    return switch (kind) {
      case POSTGRES -> EmbeddedPostgres.builder().setting("max_connections", most).start();
      case MYSQL -> EmbeddedMysql.builder().setting("max_connections", most).start();
      default -> EmbeddedMysql.mariadb().setting("max_connections", most).start();
    };
  }

  /** What a process needs to reach both, by way of the proxies. */
  Map<String, String> settings() {
    String url = direct.url().replaceFirst("127.0.0.1:\\d+", "127.0.0.1:" + toDatabase.port());
    String options =
        switch (settings.database()) {
          case REDIS -> "";
          case POSTGRES ->
              "?socketTimeout=%d&connectTimeout=%d"
                  .formatted(PATIENCE.toSeconds(), TO_CONNECT.toSeconds());
          default ->
              "&socketTimeout=%d&connectTimeout=%d"
                  .formatted(PATIENCE.toMillis(), TO_CONNECT.toMillis());
        };
    Address proxied = new Address(url + options, direct.user(), direct.password());
    Map<String, String> all = new LinkedHashMap<>(Place.settings(proxied));
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

  EmbeddedServer database() {
    return database;
  }

  /** The database, asked directly; it may be away. */
  Tortured<?> place() {
    return place;
  }

  EmbeddedServer broker() {
    return broker.server();
  }

  /** A session of somebody else; empty when the database has no more, or is away. */
  Optional<AutoCloseable> connect() {
    if (database instanceof EmbeddedRedis redis) {
      return connect(new redis.clients.jedis.Connection("127.0.0.1", redis.port()));
    }
    try {
      return Optional.of(open());
    } catch (SQLException e) {
      return Optional.empty();
    }
  }

  /** The server says that it has no more only when it is asked something. */
  private static Optional<AutoCloseable> connect(redis.clients.jedis.Connection connection) {
    try {
      boolean unused = connection.ping();
      return Optional.of(connection);
    } catch (JedisException e) {
      connection.close();
      return Optional.empty();
    }
  }

  private Connection open() throws SQLException {
    return DriverManager.getConnection(direct.url(), direct.user(), direct.password());
  }

  /** A session that keeps what is removed from going; empty when there is no such thing. */
  Optional<AutoCloseable> snapshot() {
    if (settings.database() == StoreKind.REDIS) {
      return Optional.empty();
    }
    try {
      Connection connection = open();
      Jdbc.execute(connection, settings.database().jdbc().sql("torture snapshot"));
      Jdbc.execute(connection, "select count(*) from outbox_bucket");
      return Optional.of(connection);
    } catch (SQLException e) {
      return Optional.empty(); // the server is away
    }
  }

  /** Saves what the servers logged. */
  void copyLogs(Path directory) throws IOException {
    for (EmbeddedServer server : List.of(database, broker())) {
      if (Files.exists(server.log())) {
        Files.copy(
            server.log(),
            directory.resolve(server == database ? "database.log" : "broker.log"),
            StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @Override
  public void close() throws Exception {
    toDatabase.close();
    toBroker.close();
    broker.close();
    place.close();
    database.close();
  }
}
