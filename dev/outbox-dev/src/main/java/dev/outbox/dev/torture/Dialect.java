package dev.outbox.dev.torture;

import dev.outbox.dev.bench.JdbcKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import java.util.List;
import java.util.function.Supplier;

/**
 * A relational database that is tortured; its statements are among those of its kind.
 *
 * @param name as {@link Settings#database} says it
 * @param start starts a server
 * @param urlOptions how long a client waits for an answer and for a connection, in seconds
 */
record Dialect(
    String name, JdbcKind kind, Supplier<? extends DatabaseServer> start, String urlOptions) {
  /** How long a client waits for an answer, in seconds; about as long as a lease lasts. */
  static final int PATIENCE_SECONDS = 4;

  private static final int CONNECT_SECONDS = 5;
  private static final String OF_MYSQL = "&socketTimeout=%d000&connectTimeout=%d000";

  /** The embedded MariaDB gives a URL for MySQL's driver. */
  static final List<Dialect> ALL =
      List.of(
          new Dialect(
              "postgres",
              kind("jdbc:postgresql:"),
              () -> EmbeddedPostgres.builder().setting("max_connections", "60").start(),
              "?socketTimeout=%d&connectTimeout=%d"),
          new Dialect(
              "mysql",
              kind("jdbc:mysql:"),
              () -> EmbeddedMysql.builder().setting("max_connections", "60").start(),
              OF_MYSQL),
          new Dialect(
              "mariadb",
              kind("jdbc:mariadb:"),
              () -> EmbeddedMysql.mariadb().setting("max_connections", "60").start(),
              OF_MYSQL));

  private static JdbcKind kind(String url) {
    return JdbcKind.of(url).orElseThrow();
  }

  static Dialect named(String name) {
    return ALL.stream().filter(dialect -> dialect.name.equals(name)).findFirst().orElseThrow();
  }

  /** The URL by way of a proxy, with a client's patience. */
  String url(DatabaseServer server, int port) {
    return server.jdbcUrl().replaceFirst("127\\.0\\.0\\.1:\\d+", "127.0.0.1:" + port)
        + urlOptions.formatted(PATIENCE_SECONDS, CONNECT_SECONDS);
  }
}
