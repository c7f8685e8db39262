package dev.outbox.dev.torture;

import dev.outbox.dev.StoreKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedMysql;
import dev.outbox.embedded.EmbeddedPostgres;
import java.util.List;
import java.util.function.Supplier;

/**
 * A relational database that is tortured; its statements are among those of its kind.
 *
 * @param start starts a server
 * @param urlOptions how long a client waits for an answer and for a connection, in seconds
 */
record Dialect(StoreKind kind, Supplier<? extends DatabaseServer> start, String urlOptions) {
  /** How long a client waits for an answer, in seconds; about as long as a lease lasts. */
  static final int PATIENCE_SECONDS = 4;

  private static final int CONNECT_SECONDS = 5;
  private static final String OF_MYSQL = "&socketTimeout=%d000&connectTimeout=%d000";

  /** The embedded MariaDB gives a URL for MySQL's driver. */
  static final List<Dialect> ALL =
      List.of(
          new Dialect(
              StoreKind.POSTGRES,
              () -> EmbeddedPostgres.builder().setting("max_connections", "60").start(),
              "?socketTimeout=%d&connectTimeout=%d"),
          new Dialect(
              StoreKind.MYSQL,
              () -> EmbeddedMysql.builder().setting("max_connections", "60").start(),
              OF_MYSQL),
          new Dialect(
              StoreKind.MARIADB,
              () -> EmbeddedMysql.mariadb().setting("max_connections", "60").start(),
              OF_MYSQL));

  static Dialect of(StoreKind kind) {
    return ALL.stream().filter(dialect -> dialect.kind == kind).findFirst().orElseThrow();
  }

  /** The URL by way of a proxy, with a client's patience. */
  String url(DatabaseServer server, int port) {
    return server.jdbcUrl().replaceFirst("127\\.0\\.0\\.1:\\d+", "127.0.0.1:" + port)
        + urlOptions.formatted(PATIENCE_SECONDS, CONNECT_SECONDS);
  }
}
