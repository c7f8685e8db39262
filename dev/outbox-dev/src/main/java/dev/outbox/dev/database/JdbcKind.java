package dev.outbox.dev.database;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.cli.Stores;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What differs between relational databases for a program that works on one in a schema of its own.
 * Where databases are schemas, as on MySQL, "schema" means those. The statements of each are in a
 * file, by name.
 */
public enum JdbcKind {
  POSTGRES("PostgreSQL", "postgres.sql", "", "ApplicationName="),
  MYSQL("MySQL", "mysql.sql", "utf8mb4_0900_bin", null),
  MARIADB("MariaDB", "mysql.sql", "utf8mb4_nopad_bin", null),
  SQLSERVER("SQL Server", "sqlserver.sql", "", ";applicationName=");

  private final String label;
  private final Map<String, String> statements = new HashMap<>();
  private final @Nullable String naming;

  /**
   * @param label for people
   * @param file with the statements
   * @param naming the URL's option that gives a session a name; null: sessions have none, and are
   *     found by their database
   */
  JdbcKind(String label, String file, String collation, @Nullable String naming) {
    this.label = label;
    this.naming = naming;
    try (InputStream in = requireNonNull(JdbcKind.class.getResourceAsStream(file))) {
      String all = new String(in.readAllBytes(), UTF_8).replace("${collation}", collation);
      for (String part : all.split("(?m)^--: ")) {
        int end = part.indexOf('\n');
        statements.put(part.substring(0, end), part.substring(end).strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return label;
  }

  /** Makes stores and inboxes. */
  JdbcStoreProvider provider() {
    return (JdbcStoreProvider) Stores.named(name().toLowerCase(Locale.ROOT));
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
    if (naming == null) {
      return url;
    }
    String between = naming.startsWith(";") ? "" : url.contains("?") ? "&" : "?";
    return (between.isEmpty() ? url.replaceFirst(";$", "") : url + between) + naming + session;
  }

  /** A session's first statement, by which it is found where it has no name of its own; or null. */
  public @Nullable String enter(String schema) {
    return has("enter") ? sql("enter", schema) : null;
  }
}
