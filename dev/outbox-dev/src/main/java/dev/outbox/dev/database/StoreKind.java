package dev.outbox.dev.database;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.TestServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** The stores that there are, and where their databases come from. */
public enum StoreKind {
  POSTGRES(
      JdbcKind.POSTGRES,
      settings -> StartedServer.of(EmbeddedPostgres.builder().settings(settings).start())),
  MYSQL(JdbcKind.MYSQL, settings -> StartedServer.of(started(EmbeddedMysql.builder(), settings))),
  MARIADB(JdbcKind.MARIADB, StoreKind::mariadb),
  SQLSERVER(JdbcKind.SQLSERVER, null),
  MONGO(null, settings -> mongo()),
  REDIS(null, settings -> redis());

  private final @Nullable JdbcKind jdbc;
  private final @Nullable Function<Map<String, String>, StartedServer> server;

  /**
   * @param jdbc null: it is not relational
   * @param server starts one with settings of its own; null: there is none
   */
  StoreKind(
      @Nullable JdbcKind jdbc, @Nullable Function<Map<String, String>, StartedServer> server) {
    this.jdbc = jdbc;
    this.server = server;
  }

  private String label() {
    return jdbc != null ? jdbc.toString() : this == MONGO ? "MongoDB" : "Redis";
  }

  /** With what counts row writes, for the benchmarks; on MySQL it is on by default. */
  private static EmbeddedMysql started(
      EmbeddedMysql.Builder builder, Map<String, String> settings) {
    return builder.settings(settings).setting("performance_schema", "ON").start();
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
      TestServer server = TestServer.mongo();
      return new StartedServer(new Address(server.address(), "", ""), null, server::close);
    } catch (TestAbortedException e) {
      throw new Failure(
          "there is no MongoDB to be started: give your own with --url %s or in the variable OUTBOX_TEST_MONGO_URL, or run Docker"
              .formatted(MONGO.exampleUrl()),
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
    String name = Stores.of(url).name();
    return Arrays.stream(values())
        .filter(kind -> kind.toString().equals(name))
        .findFirst()
        .orElseThrow(() -> new Failure("the store %s is not of this release".formatted(name)));
  }

  private String exampleUrl() {
    return Stores.named(toString()).exampleUrl();
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
    return at(address, 1);
  }

  /** The same with so many connections. */
  public static Place<?> at(Address address, int connections) {
    return of(address.url()).place(address, Archive.NONE, connections, Place.PATIENCE);
  }

  /**
   * A database of this kind, as a process works in it.
   *
   * @param archive what the outbox keeps of messages that leave it
   * @param size of its pool
   * @param patience so long clients wait for a connection, where that can be said
   */
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
              .formatted(label(), e.getMessage(), exampleUrl()),
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
              .formatted(label(), exampleUrl()));
    }
    return server.apply(settings);
  }
}
