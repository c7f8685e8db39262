package dev.outbox.dev;

import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.dev.bench.JdbcKind;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.MongoServer;
import dev.outbox.store.mongo.MongoInboxTck;
import dev.outbox.store.mongo.MongoStoreTck;
import dev.outbox.store.mongo.MongoUrl;
import dev.outbox.store.mysql.MariadbInboxTck;
import dev.outbox.store.mysql.MariadbStoreTck;
import dev.outbox.store.mysql.MysqlInboxTck;
import dev.outbox.store.mysql.MysqlStoreTck;
import dev.outbox.store.postgres.PostgresInboxTck;
import dev.outbox.store.postgres.PostgresStoreTck;
import dev.outbox.store.redis.RedisInboxTck;
import dev.outbox.store.redis.RedisStoreTck;
import dev.outbox.store.redis.RedisUrl;
import dev.outbox.store.sqlserver.SqlServerInboxTck;
import dev.outbox.store.sqlserver.SqlServerStoreTck;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** The stores that there are, and where their databases come from. */
public enum StoreKind {
  POSTGRES(
      "jdbc:postgresql:",
      "//host:5432/name",
      List.of(PostgresStoreTck.class, PostgresInboxTck.class),
      () -> StartedServer.of(EmbeddedPostgres.start())),
  MYSQL(
      "jdbc:mysql:",
      "//host:3306/name",
      List.of(MysqlStoreTck.class, MysqlInboxTck.class),
      () -> StartedServer.of(started(EmbeddedMysql.builder()))),
  MARIADB(
      "jdbc:mariadb:",
      "//host:3306/name",
      List.of(MariadbStoreTck.class, MariadbInboxTck.class),
      StoreKind::startedMariadb),
  SQLSERVER(
      "jdbc:sqlserver:",
      "//host:1433;databaseName=name",
      List.of(SqlServerStoreTck.class, SqlServerInboxTck.class),
      null),
  MONGO(
      "MongoDB",
      MongoUrl.BEGIN,
      "mongodb://host:27017/name?replicaSet=rs0",
      List.of(MongoStoreTck.class, MongoInboxTck.class),
      StoreKind::startedMongo,
      DatabaseByMongo::at),
  REDIS(
      "Redis",
      RedisUrl.BEGIN,
      "redis://host:6379",
      List.of(RedisStoreTck.class, RedisInboxTck.class),
      null,
      DatabaseByRedis::at);

  private final String label;
  private final List<String> urls;
  private final String exampleUrl;
  private final List<Class<?>> tcks;
  private final @Nullable Supplier<StartedServer> server;
  private final Function<Address, Database> open;

  /** A relational one. */
  StoreKind(
      String url, String rest, List<Class<?>> tcks, @Nullable Supplier<StartedServer> server) {
    this(
        jdbc(url).name(),
        List.of(url),
        url + rest,
        tcks,
        server,
        address -> new DatabaseByJdbc(jdbc(url), address));
  }

  /**
   * @param label for people
   * @param urls what they begin with
   * @param tcks the suites of the store and of its inbox
   * @param server starts one; null: there is none
   */
  StoreKind(
      String label,
      List<String> urls,
      String exampleUrl,
      List<Class<?>> tcks,
      @Nullable Supplier<StartedServer> server,
      Function<Address, Database> open) {
    this.label = label;
    this.urls = urls;
    this.exampleUrl = exampleUrl;
    this.tcks = tcks;
    this.server = server;
    this.open = open;
  }

  private static JdbcKind jdbc(String url) {
    return JdbcKind.of(url).orElseThrow();
  }

  /** With what counts row writes, for the benchmarks; on MySQL it is on by default. */
  private static EmbeddedMysql started(EmbeddedMysql.Builder builder) {
    return builder.setting("performance_schema", "ON").start();
  }

  /** The embedded MariaDB gives a URL for MySQL's driver. */
  private static StartedServer startedMariadb() {
    EmbeddedMysql server = started(EmbeddedMysql.mariadb());
    return StartedServer.of(server, server.jdbcUrl().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"));
  }

  /** The user's own or a container, as for tests. */
  private static StartedServer startedMongo() {
    try {
      return StartedServer.of(MongoServer.start());
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
  static StoreKind orDefault(@Nullable StoreKind chosen) {
    return chosen != null ? chosen : POSTGRES;
  }

  /** As in options and in the properties of tests: postgres. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Of a relational one. */
  public JdbcKind jdbc() {
    return jdbc(urls.get(0));
  }

  String exampleUrl() {
    return exampleUrl;
  }

  /** The suites of the store and of its inbox. */
  List<Class<?>> tcks() {
    return tcks;
  }

  /** The database at an address; connects to nothing yet. */
  static Database at(Address address) {
    return of(address.url()).open.apply(address);
  }

  /** One that has answered; see {@link Stores#connect}. */
  public static Database connect(Address address) {
    Database database = at(address);
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
    if (server == null) {
      throw new Failure(
          "%s cannot be started from here: give your own with --url %s"
              .formatted(label, exampleUrl));
    }
    try {
      return server.get();
    } catch (UnsupportedOperationException e) {
      throw new Failure(
          "%s cannot be started on this machine, %s: give your own with --url %s"
              .formatted(label, e.getMessage(), exampleUrl),
          e);
    }
  }
}
