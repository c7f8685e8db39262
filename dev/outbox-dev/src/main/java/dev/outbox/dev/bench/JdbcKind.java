package dev.outbox.dev.bench;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.MariadbInboxStore;
import dev.outbox.store.mysql.MariadbOutboxStore;
import dev.outbox.store.mysql.MysqlInboxStore;
import dev.outbox.store.mysql.MysqlOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * All that differs between relational databases for a program that works on one in a schema of its
 * own. Where databases are schemas, as on MySQL, "schema" means those.
 */
public interface JdbcKind {

  /** The kind that a URL is of; empty when no store is known for it. */
  static Optional<JdbcKind> of(String url) {
    return Stream.<JdbcKind>of(
            new PostgresKind(),
            new MysqlKind(
                "MySQL",
                "jdbc:mysql:",
                "utf8mb4_0900_bin",
                MysqlOutboxStore::builder,
                MysqlInboxStore::builder),
            new MysqlKind(
                "MariaDB",
                "jdbc:mariadb:",
                "utf8mb4_nopad_bin",
                MariadbOutboxStore::builder,
                MariadbInboxStore::builder),
            new SqlServerKind())
        .filter(kind -> url.startsWith(kind.urlPrefix()))
        .findFirst();
  }

  /** For people. */
  String name();

  /** What the URLs of its driver begin with. */
  String urlPrefix();

  /** With its defaults; it is to be told where the tables are. */
  JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource);

  /** The same of the inbox. */
  JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource);

  /**
   * The URL of sessions that {@link #removeSchemas} finds by their name, where sessions have one.
   *
   * @param name a plain one
   */
  String named(String url, String name);

  /** A session's first statement, by which it is found where it has no name of its own; or null. */
  default @Nullable String enter(String schema) {
    return null;
  }

  /**
   * Makes a schema.
   *
   * @param schema a plain name
   */
  default void createSchema(Connection connection, String schema) throws SQLException {
    execute(connection, "create schema " + schema);
  }

  /** The statement that lets this connection's user make schemas, for who may give rights. */
  String grant(Connection connection) throws SQLException;

  /**
   * Ends what still works in the schemas whose names begin so, as after Ctrl-C, and removes them.
   */
  default void removeSchemas(Connection connection, String begin) throws SQLException {
    for (String session : texts(connection, sessions(), begin)) {
      try {
        execute(connection, end().formatted(session));
      } catch (SQLException e) {
        // It has ended meanwhile; or it may not be ended, and then the removal says what it blocks.
      }
    }
    for (String schema : schemas(connection, begin)) {
      for (String statement : drop(connection, schema)) {
        execute(connection, statement);
      }
    }
  }

  /** Those whose names begin so, that this user may know of. */
  static List<String> schemas(Connection connection, String begin) throws SQLException {
    return texts(
        connection,
        "select schema_name from information_schema.schemata where schema_name like ? escape '!'",
        begin);
  }

  /** Which other sessions have a name like this, or have entered such a schema. */
  String sessions();

  /** Ends a session, {@code %s}. */
  String end();

  /** The statements that remove a schema with all that is in it. */
  List<String> drop(Connection connection, String schema) throws SQLException;

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first column, for the one parameter "begins with this". */
  static List<String> texts(Connection connection, String sql, String begin) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, begin.replaceAll("[!_%]", "!$0") + "%");
      try (ResultSet rows = statement.executeQuery()) {
        List<String> texts = new ArrayList<>();
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
        return texts;
      }
    }
  }
}
