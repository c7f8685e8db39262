package dev.outbox.benchmarks;

import dev.outbox.benchmarks.BenchDatabase.State;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.mysql.MariadbOutboxStore;
import dev.outbox.store.mysql.MysqlOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * All that differs between relational databases for a program that works on one in a schema of its
 * own: the statements of schemas, and those of the benchmarks. Where databases are schemas, as on
 * MySQL, "schema" means those.
 *
 * <p>In the benchmarks' statements {@code ${s}} stands for the schema.
 */
public abstract class JdbcKind {

  /** The kind that a URL is of; empty when no store is known for it. */
  public static Optional<JdbcKind> of(String url) {
    return All.KINDS.stream().filter(kind -> url.startsWith(kind.urlPrefix())).findFirst();
  }

  /** Loaded later than this class, whose subclasses it makes. */
  private static final class All {
    static final List<JdbcKind> KINDS =
        List.of(
            new PostgresKind(),
            new MysqlKind(
                "MySQL",
                "jdbc:mysql:",
                "com.mysql.cj.jdbc.Driver",
                "utf8mb4_0900_bin",
                MysqlOutboxStore::builder),
            new MysqlKind(
                "MariaDB",
                "jdbc:mariadb:",
                "org.mariadb.jdbc.Driver",
                "utf8mb4_nopad_bin",
                MariadbOutboxStore::builder),
            new SqlServerKind());
  }

  /** For people. */
  public abstract String name();

  /** What the URLs of its driver begin with. */
  public abstract String urlPrefix();

  /** The driver's class. */
  public abstract String driver();

  /** Whether a connection was refused because it came without a password. */
  public abstract boolean wantsPassword(SQLException e);

  /** With its defaults; it is to be told where the tables are. */
  public abstract JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource);

  /**
   * The URL of sessions that {@link #removeSchemas} finds by their name, where sessions have one.
   *
   * @param name a plain one
   */
  public abstract String named(String url, String name);

  /** A session's first statement, by which it is found where it has no name of its own; or null. */
  public @Nullable String enter(String schema) {
    return null;
  }

  /** What is wrong when a server of another kind answers; or null. */
  public @Nullable String problem(Connection connection) throws SQLException {
    return null;
  }

  /**
   * Makes a schema.
   *
   * @param schema a plain name
   */
  public final void createSchema(Connection connection, String schema) throws SQLException {
    execute(connection, "create schema " + schema);
  }

  /** Whether there is one that this user may know of. */
  public final boolean hasSchema(Connection connection, String schema) throws SQLException {
    return schemas(connection, schema).contains(schema);
  }

  /**
   * Ends what still works in the schemas whose names begin so, as after Ctrl-C, and removes them.
   */
  public final void removeSchemas(Connection connection, String begin) throws SQLException {
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
  public static List<String> schemas(Connection connection, String begin) throws SQLException {
    return texts(
        connection,
        "select schema_name from information_schema.schemata where schema_name like ? escape '!'",
        begin);
  }

  /** Which other sessions have a name like this, or have entered such a schema. */
  abstract String sessions();

  /** Ends a session, {@code %s}. */
  abstract String end();

  /** The statements that remove a schema with all that is in it. */
  abstract List<String> drop(Connection connection, String schema) throws SQLException;

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

  // What follows is the benchmarks' alone.

  /** What the database does not count. */
  static final long UNKNOWN = -1;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC);

  /** Names of settings that durability and speed depend on. */
  abstract List<String> settings();

  /** Asks for a setting, {@code %s}. */
  abstract String setting();

  /** A business row's: a generated id, customer, amount, a time of the database's. */
  abstract String businessTable();

  /** The columns of a message without those that only our algorithm needs; one index. */
  abstract String limitTable();

  /** The oldest messages that nobody else has, locked. Parameter: how many. */
  abstract String take();

  /** Deletes some of them, at most so many. */
  abstract String remove(int most);

  /** Sets the parameter of {@link #remove}: a JSON list, unless there is something better. */
  void setRemoved(PreparedStatement remove, long[] sequences, int count) throws SQLException {
    remove.setString(
        1,
        Arrays.stream(sequences, 0, count)
            .mapToObj(Long::toString)
            .collect(Collectors.joining(",", "[", "]")));
  }

  /** Whether the transaction was rolled back because of others, and may be tried again. */
  boolean isConflict(SQLException e) {
    return false;
  }

  /** The parameters of one inserted message, as {@link JdbcLimit} numbers them. */
  String row() {
    return "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  }

  void setId(PreparedStatement statement, int index, UUID id) throws SQLException {
    statement.setString(index, id.toString());
  }

  /** As the parameter of a row: in UTC, unless the type knows zones. */
  String time(Instant time) {
    return TIME.format(time);
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

  /**
   * Inserts messages into a table, {@code ${t}}; the table {@code number} has the numbers from 0 to
   * 9,999. Parameters: status, the keys' prefix, their number twice (0: each message has its own),
   * payload, the first message's number, how many.
   */
  abstract String fill(State state);

  /** Statistics of a table and, where it is not done at once, the removal of deleted rows. */
  abstract String tidy(String table);

  /** Writes what is due to be written; or null where nobody may ask for it. */
  @Nullable String checkpoint() {
    return null;
  }

  /** Whether it was refused because this user may not do it. */
  boolean isNotAllowed(SQLException e) {
    return false;
  }

  /** Opens a transaction that sees the present until it ends, on a session of its own. */
  abstract void pinSnapshot(Session session, String schema) throws SQLException;

  /** Waits, when all pools are closed, until their writes are counted. */
  void awaitCounted(Session session, String pools) {}

  /** Rows inserted, updated and deleted in a table so far; or {@link #UNKNOWN}. */
  abstract long writes(Session session, String schema, String table);

  /** Bytes of the log so far; or {@link #UNKNOWN}. */
  abstract long logBytes(Session session);
}
