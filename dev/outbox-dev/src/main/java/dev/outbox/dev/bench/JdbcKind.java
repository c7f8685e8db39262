package dev.outbox.dev.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * All that differs between relational databases for a program that works on one in a schema of its
 * own. Where databases are schemas, as on MySQL, "schema" means those. The statements of each are
 * in a file, by name.
 */
public abstract class JdbcKind {
  /** What the database does not count. */
  static final long UNKNOWN = -1;

  private final String name;
  private final String urlPrefix;
  private final Map<String, String> statements = new HashMap<>();
  private final Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores;
  private final Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes;

  /**
   * @param name for people
   * @param urlPrefix what the URLs of its driver begin with
   * @param file with the statements
   */
  JdbcKind(
      String name,
      String urlPrefix,
      String file,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes) {
    this.name = name;
    this.urlPrefix = urlPrefix;
    this.stores = stores;
    this.inboxes = inboxes;
    try (InputStream in = requireNonNull(JdbcKind.class.getResourceAsStream(file))) {
      for (String part : new String(in.readAllBytes(), UTF_8).split("(?m)^--: ")) {
        int end = part.indexOf('\n');
        statements.put(part.substring(0, end), part.substring(end).strip());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The kind that a URL is of; empty when no store is known for it. */
  public static Optional<JdbcKind> of(String url) {
    return Kinds.ALL.stream().filter(kind -> url.startsWith(kind.urlPrefix)).findFirst();
  }

  /** They are made when the first is asked for: each reads a file. */
  private static final class Kinds {
    static final List<JdbcKind> ALL =
        List.of(new PostgresKind(), MysqlKind.mysql(), MysqlKind.mariadb(), new SqlServerKind());
  }

  /** For people. */
  public final String name() {
    return name;
  }

  /** With its defaults; it is to be told where the tables are. */
  public final JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return stores.apply(dataSource);
  }

  /** The same of the inbox. */
  public final JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return inboxes.apply(dataSource);
  }

  /** Whether there is a statement of this name. */
  public final boolean has(String statement) {
    return statements.containsKey(statement);
  }

  /** A statement. */
  public String sql(String statement) {
    String sql = statements.get(statement);
    if (sql == null) {
      throw new UnsupportedOperationException(
          "there is no \"%s\" on %s".formatted(statement, name));
    }
    return sql;
  }

  /** The same, where it is several. */
  public final List<String> all(String statement) {
    return Arrays.asList(sql(statement).split(";\\s*"));
  }

  /** The same in a schema. */
  final String sql(String statement, String schema) {
    return in(schema, sql(statement));
  }

  /** With the schema filled in. */
  static String in(String schema, String sql) {
    return sql.replace("${s}", schema);
  }

  /**
   * The URL of sessions that {@link #removeSchemas} finds by their name, where sessions have one.
   *
   * @param session a plain name
   */
  public abstract String named(String url, String session);

  /** A session's first statement, by which it is found where it has no name of its own; or null. */
  public final @Nullable String enter(String schema) {
    return has("enter") ? sql("enter", schema) : null;
  }

  /**
   * Makes a schema.
   *
   * @param schema a plain name
   */
  public final void createSchema(Connection connection, String schema) throws SQLException {
    execute(connection, "create schema " + schema);
  }

  /** The statement that lets this connection's user make schemas, for who may give rights. */
  public final String grant(Connection connection) throws SQLException {
    return texts(connection, sql("grant")).get(0);
  }

  /**
   * Ends what still works in the schemas whose names begin so, as after Ctrl-C, and removes them.
   */
  public final void removeSchemas(Connection connection, String begin) throws SQLException {
    for (String session : texts(connection, sql("sessions"), pattern(begin))) {
      try {
        execute(connection, sql("end session").formatted(session));
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
  public static List<String> schemas(Connection connection, String begin) throws SQLException {
    return texts(
        connection,
        "select schema_name from information_schema.schemata where schema_name like ? escape '!'",
        pattern(begin));
  }

  private static String pattern(String begin) {
    return begin.replaceAll("[!_%]", "!$0") + "%";
  }

  /** The statements that remove a schema with all that is in it. */
  List<String> drop(Connection connection, String schema) throws SQLException {
    return List.of(sql("drop schema", schema));
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first column. */
  static List<String> texts(Connection connection, String sql, String... parameters)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setString(i + 1, parameters[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        List<String> texts = new ArrayList<>();
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
        return texts;
      }
    }
  }

  /** Whether the benchmarks have run on it: it has all of the statements that follow. */
  final boolean hasBenchmarks() {
    return has("fill");
  }

  /** Names of settings that durability and speed depend on. */
  final List<String> settings() {
    return Arrays.asList(sql("settings").split(", "));
  }

  /** Sets the parameters of "limit remove", which removes so many at most. */
  void setRemoved(PreparedStatement remove, long[] sequences, int count) throws SQLException {
    for (int i = 0; i < sequences.length; i++) {
      remove.setLong(i + 1, sequences[Math.min(i, count - 1)]);
    }
  }

  /** Whether the transaction was rolled back because of others, and may be tried again. */
  boolean isConflict(SQLException e) {
    return false;
  }

  void setId(PreparedStatement statement, int index, UUID id) throws SQLException {
    statement.setString(index, id.toString());
  }

  /** Reads an id as {@link #setId} wrote it, and throws it away. */
  @SuppressWarnings({"CheckReturnValue", "ReturnValueIgnored"})
  void readId(ResultSet row, int index) throws SQLException {
    UUID.fromString(row.getString(index));
  }

  /** Reads a time, and throws it away. */
  @SuppressWarnings("CheckReturnValue")
  void readTime(ResultSet row, int index) throws SQLException {
    row.getObject(index, LocalDateTime.class);
  }

  /** Whether it was refused because this user may not do it. */
  boolean isNotAllowed(SQLException e) {
    return false;
  }

  /** Waits, when all pools are closed, until their writes are counted. */
  void awaitCounted(Session session, String pools) {}

  /** Rows inserted, updated and deleted in a table so far; or {@link #UNKNOWN}. */
  final long writes(Session session, String schema, String table) {
    return session.number(sql("writes", schema).formatted(table));
  }

  /** Bytes of the log so far; or {@link #UNKNOWN}. */
  long logBytes(Session session) {
    return session.number(sql("log bytes"));
  }
}
