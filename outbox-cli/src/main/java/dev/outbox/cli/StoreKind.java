package dev.outbox.cli;

import dev.outbox.benchmarks.DatabaseKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.MariadbStoreTck;
import dev.outbox.store.mysql.MysqlStoreTck;
import dev.outbox.store.postgres.PostgresStoreTck;
import dev.outbox.store.sqlserver.SqlServerStoreTck;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/** The stores that there are, and all that differs between them here. */
public enum StoreKind {
  POSTGRES(
      "jdbc:postgresql:",
      "//host:5432/name",
      "org.postgresql.Driver",
      "08004",
      PostgresStoreTck.class,
      EmbeddedPostgres::start),
  MYSQL(
      "jdbc:mysql:",
      "//host:3306/name",
      "com.mysql.cj.jdbc.Driver",
      "28000",
      MysqlStoreTck.class,
      () -> started(EmbeddedMysql.builder())),
  MARIADB(
      "jdbc:mariadb:",
      "//host:3306/name",
      "org.mariadb.jdbc.Driver",
      "28000",
      MariadbStoreTck.class,
      () -> new ByMariadbDriver(started(EmbeddedMysql.mariadb()))),
  SQLSERVER(
      "jdbc:sqlserver:",
      "//host:1433;databaseName=name",
      "com.microsoft.sqlserver.jdbc.SQLServerDriver",
      "S0001",
      SqlServerStoreTck.class,
      null);

  private final String urls;
  private final String rest;
  private final String driver;
  private final String refused;
  private final Class<?> tck;
  private final @Nullable Supplier<DatabaseServer> embedded;
  private final DatabaseKind database;

  /**
   * @param urls what they begin with
   * @param rest of a URL, as an example
   * @param driver class of the JDBC driver
   * @param refused SQL state that it answers with when it misses the password
   * @param embedded null: there is none
   */
  StoreKind(
      String urls,
      String rest,
      String driver,
      String refused,
      Class<?> tck,
      @Nullable Supplier<DatabaseServer> embedded) {
    this.urls = urls;
    this.rest = rest;
    this.driver = driver;
    this.refused = refused;
    this.tck = tck;
    this.embedded = embedded;
    database = DatabaseKind.of(urls).orElseThrow();
  }

  /** With what counts row writes, for the benchmarks; on MySQL it is on by default. */
  private static DatabaseServer started(EmbeddedMysql.Builder builder) {
    return builder.setting("performance_schema", "ON").start();
  }

  /** The embedded MariaDB gives a URL for MySQL's driver. */
  private record ByMariadbDriver(DatabaseServer server) implements DatabaseServer {
    @Override
    public String jdbcUrl() {
      return server.jdbcUrl().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
    }

    @Override
    public String user() {
      return server.user();
    }

    @Override
    public String password() {
      return server.password();
    }

    @Override
    public Optional<EmbeddedServer> embedded() {
      return server.embedded();
    }

    @Override
    public void close() {
      server.close();
    }
  }

  /**
   * The one that a URL is of.
   *
   * @throws Failure when no store knows it
   */
  public static StoreKind of(String url) {
    return Arrays.stream(values())
        .filter(kind -> url.startsWith(kind.urls))
        .findFirst()
        .orElseThrow(
            () ->
                new Failure(
                    "the URL %s is not of a database that this release knows: give one that begins with one of %s"
                        .formatted(
                            url,
                            Arrays.stream(values())
                                .map(kind -> kind.urls)
                                .collect(Collectors.joining(", ")))));
  }

  /** The one that an option names. */
  static StoreKind named(String name) {
    return Arrays.stream(values())
        .filter(kind -> kind.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is not one of %s".formatted(name, Arrays.toString(values()))));
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

  /** Schemas of one's own on it. */
  public DatabaseKind database() {
    return database;
  }

  String exampleUrl() {
    return urls + rest;
  }

  String driver() {
    return driver;
  }

  /** The SQL state of a connection that was refused for lack of a password. */
  String refused() {
    return refused;
  }

  /** The store's own suite. */
  Class<?> tck() {
    return tck;
  }

  /**
   * Starts a server of its own.
   *
   * @throws Failure when there is none of this kind
   */
  public DatabaseServer start() {
    if (embedded == null) {
      throw new Failure(
          "%s cannot be started from here: give your own with --url %s"
              .formatted(database.name(), exampleUrl()));
    }
    try {
      return embedded.get();
    } catch (UnsupportedOperationException e) {
      throw new Failure(
          "%s cannot be started on this machine, %s: give your own with --url %s"
              .formatted(database.name(), e.getMessage(), exampleUrl()),
          e);
    }
  }

  /**
   * A store.
   *
   * @throws Failure when a name is refused
   */
  public JdbcOutboxStore store(DataSource dataSource, @Nullable String schema, String prefix) {
    try {
      return database.store(dataSource).schema(schema).prefix(prefix).build();
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }
}
