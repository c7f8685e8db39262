package dev.outbox.dev.database;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.MongoServer;
import dev.outbox.store.mongo.MongoUrl;
import dev.outbox.store.redis.RedisUrl;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** The stores that there are, and where their databases come from. */
public enum StoreKind {
  POSTGRES(
      JdbcKind.POSTGRES,
      List.of("jdbc:postgresql:"),
      "jdbc:postgresql://host:5432/name",
      StoreKind::postgres),
  MYSQL(
      JdbcKind.MYSQL,
      List.of("jdbc:mysql:"),
      "jdbc:mysql://host:3306/name",
      settings -> StartedServer.of(started(EmbeddedMysql.builder(), settings))),
  MARIADB(
      JdbcKind.MARIADB,
      List.of("jdbc:mariadb:"),
      "jdbc:mariadb://host:3306/name",
      StoreKind::mariadb),
  SQLSERVER(
      JdbcKind.SQLSERVER,
      List.of("jdbc:sqlserver:"),
      "jdbc:sqlserver://host:1433;databaseName=name",
      null),
  MONGO(null, MongoUrl.BEGIN, "mongodb://host:27017/name?replicaSet=rs0", settings -> mongo()),
  REDIS(null, RedisUrl.BEGIN, "redis://host:6379", settings -> redis());

  private final @Nullable JdbcKind jdbc;
  private final List<String> urls;
  private final String exampleUrl;
  private final @Nullable Function<Map<String, String>, StartedServer> server;

  /**
   * @param jdbc null: it is not relational
   * @param urls what they begin with
   * @param server starts one with settings of its own; null: there is none
   */
  StoreKind(
      @Nullable JdbcKind jdbc,
      List<String> urls,
      String exampleUrl,
      @Nullable Function<Map<String, String>, StartedServer> server) {
    this.jdbc = jdbc;
    this.urls = urls;
    this.exampleUrl = exampleUrl;
    this.server = server;
  }

  /** For people. */
  private String label() {
    return jdbc != null ? jdbc.toString() : this == MONGO ? "MongoDB" : "Redis";
  }

  private static StartedServer postgres(Map<String, String> settings) {
    EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
    settings.forEach(builder::setting);
    return StartedServer.of(builder.start());
  }

  /** With what counts row writes, for the benchmarks; on MySQL it is on by default. */
  private static EmbeddedMysql started(
      EmbeddedMysql.Builder builder, Map<String, String> settings) {
    settings.forEach(builder::setting);
    return builder.setting("performance_schema", "ON").start();
  }

  /** The embedded MariaDB gives a URL for MySQL's driver. */
  private static StartedServer mariadb(Map<String, String> settings) {
    EmbeddedMysql server = started(EmbeddedMysql.mariadb(), settings);
    return StartedServer.of(server, server.jdbcUrl().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"));
  }

  /** Only a torture starts one. */
  private static StartedServer redis() {
    EmbeddedRedis server = EmbeddedRedis.start("--maxclients", "100");
    return new StartedServer(new Address(server.url(), "", ""), server, server::close);
  }

  /** The user's own or a container, as for tests. */
  private static StartedServer mongo() {
    try {
      MongoServer server = MongoServer.start();
      return new StartedServer(new Address(server.connectionString(), "", ""), null, server::close);
    } catch (TestAbortedException e) {
      throw new Failure(
          "there is no MongoDB to be started: give your own with --url %s or in the variable OUTBOX_TEST_MONGO_URL, or run Docker"
              .formatted(MONGO.exampleUrl),
          e);
    } catch (IllegalStateException e) {
      throw new Failure("there is no MongoDB to be started: " + e.getMessage(), e);
    }
  }

  /**
   * The one that a URL is of.
   *
   * @throws Failure when no store knows it
   */
  public static StoreKind of(String url) {
    return Arrays.stream(values())
        .filter(kind -> kind.urls.stream().anyMatch(url::startsWith))
        .findFirst()
        .orElseThrow(
            () ->
                new Failure(
                    "the URL %s is not of a database that this release knows: give one that begins with one of %s"
                        .formatted(
                            url,
                            Arrays.stream(values())
                                .flatMap(kind -> kind.urls.stream())
                                .collect(Collectors.joining(", ")))));
  }

  /** What is meant where nothing is said. */
  public static StoreKind orDefault(@Nullable StoreKind chosen) {
    return chosen != null ? chosen : POSTGRES;
  }

  /** As in options and in the properties of tests: postgres. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Of a relational one. */
  public JdbcKind jdbc() {
    if (jdbc == null) {
      throw new UnsupportedOperationException(label() + " is not relational");
    }
    return jdbc;
  }

  /** The database at an address; connects to nothing yet. */
  public static Place<?> at(Address address) {
    return of(address.url()).place(address, Archive.NONE, 1);
  }

  /**
   * A database of this kind, as a process works in it.
   *
   * @param archive what the outbox keeps of messages that leave it
   * @param size of its pool
   */
  public Place<?> place(Address address, Archive archive, int size) {
    return place(address, archive, size, Place.PATIENCE);
  }

  /** The same; clients wait so long for a connection, where that can be said. */
  public Place<?> place(Address address, Archive archive, int size, Duration patience) {
    return switch (this) {
      case MONGO -> new MongoPlace(address);
      case REDIS -> new RedisPlace(address, size);
      default -> JdbcPlace.patient(jdbc(), address, archive, size, patience);
    };
  }

  /** One that has answered; see {@link Stores#connect}. */
  public static Place<?> connect(Address address) {
    Place<?> database = at(address);
    try {
      database.check();
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /**
   * Starts a server of its own.
   *
   * @throws Failure when there is none of this kind
   */
  public StartedServer start() {
    try {
      return start(Map.of());
    } catch (UnsupportedOperationException e) {
      throw new Failure(
          "%s cannot be started on this machine, %s: give your own with --url %s"
              .formatted(label(), e.getMessage(), exampleUrl),
          e);
    }
  }

  /**
   * The same, with settings of a relational one.
   *
   * @throws UnsupportedOperationException when it cannot be started on this machine
   */
  public StartedServer start(Map<String, String> settings) {
    if (server == null) {
      throw new Failure(
          "%s cannot be started from here: give your own with --url %s"
              .formatted(label(), exampleUrl));
    }
    return server.apply(settings);
  }
}
