package dev.outbox.dev.database;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.Archive;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.TestServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The stores that there are, where their databases come from, and what differs between relational
 * ones for a program that works on one in a schema of its own. Where databases are schemas, as on
 * MySQL, "schema" means those. The statements of each are in a file, by name.
 */
public enum StoreKind {
  POSTGRES("PostgreSQL", "postgres.sql"),
  MYSQL("MySQL", "mysql.sql"),
  MARIADB("MariaDB", "mysql.sql"),
  SQLSERVER("SQL Server", "sqlserver.sql"),
  MONGO("MongoDB", null),
  REDIS("Redis", null);

  final String label;
  private final Map<String, String> statements = new HashMap<>();

  /**
   * @param label for people, as {@code SQL Server}
   * @param file with the statements; null: it is not relational
   */
  StoreKind(String label, @Nullable String file) {
    this.label = label;
    if (file != null) {
      for (String part : resource(file).split("(?m)^--: ")) {
        int end = part.indexOf('\n');
        statements.put(part.substring(0, end), part.substring(end).strip());
      }
    }
  }

  /** The text of a file beside this class. */
  static String resource(String file) {
    try (InputStream in = requireNonNull(StoreKind.class.getResourceAsStream(file))) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With what counts row writes, for the benchmarks; on MySQL it is on by default. */
  private static StartedServer mysql(EmbeddedMysql.Builder builder, Map<String, String> settings) {
    return StartedServer.of(builder.settings(settings).setting("performance_schema", "ON").start());
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

  /** As in options and in the properties of tests: postgres. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether there is a statement of this name. */
  public boolean has(String statement) {
    return statements.containsKey(statement);
  }

  public String sql(String statement) {
    String sql = statements.get(statement);
    if (sql == null) {
      throw new UnsupportedOperationException(
          "there is no \"%s\" on %s".formatted(statement, label));
    }
    return sql;
  }

  /** The same, with a schema filled in. */
  public String sql(String statement, String schema) {
    return sql(statement).replace("${s}", schema);
  }

  /** The same, where it is several. */
  public List<String> all(String statement) {
    return Arrays.asList(sql(statement).split(";\\s*"));
  }

  /**
   * The URL of sessions that {@link JdbcPlace#removeSchemas} finds by their name, where sessions
   * have one.
   *
   * @param session a plain name
   */
  public String named(String url, String session) {
    return switch (this) {
      case POSTGRES -> url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + session;
      case SQLSERVER -> url.replaceFirst(";$", "") + ";applicationName=" + session;
      default -> url; // they are found by their database
    };
  }

  /** A session's first statement, by which it is found where it has no name of its own; or null. */
  public @Nullable String enter(String schema) {
    return has("enter") ? sql("enter", schema) : null;
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
      default -> JdbcPlace.patient(this, address, archive, size, patience);
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
              .formatted(label, e.getMessage(), exampleUrl()),
          e);
    }
  }

  /**
   * The same, with settings of a relational one.
   *
   * @throws UnsupportedOperationException when it cannot be started on this machine
   */
  public StartedServer start(Map<String, String> settings) {
    return switch (this) {
      case POSTGRES -> StartedServer.of(EmbeddedPostgres.builder().settings(settings).start());
      case MYSQL -> mysql(EmbeddedMysql.builder(), settings);
      case MARIADB -> mysql(EmbeddedMysql.mariadb(), settings);
      case SQLSERVER ->
          throw new Failure(
              "%s cannot be started from here: give your own with --url %s"
                  .formatted(label, exampleUrl()));
      case MONGO -> mongo();
      case REDIS -> redis();
    };
  }
}
