package dev.outbox.dev.bench;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A database on which the benchmarks have run, with their statements. In them {@code ${s}} stands
 * for the schema.
 */
interface BenchKind extends JdbcKind {
  /** What the database does not count. */
  long UNKNOWN = -1;

  DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC);

  /** Names of settings that durability and speed depend on. */
  List<String> settings();

  /** Asks for a setting, {@code %s}. */
  String setting();

  /** A business row's: a generated id, customer, amount, a time of the database's. */
  String businessTable();

  /** The columns of a message without those that only our algorithm needs; one index. */
  String limitTable();

  /** Deletes some of them, at most so many. */
  String remove(int most);

  /** Sets the parameters of {@link #remove}. */
  void setRemoved(PreparedStatement remove, long[] sequences, int count) throws SQLException;

  /** Whether the transaction was rolled back because of others, and may be tried again. */
  default boolean isConflict(SQLException e) {
    return false;
  }

  /** The parameters of one inserted message, as {@link JdbcLimit} numbers them. */
  default String row() {
    return "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  }

  default void setId(PreparedStatement statement, int index, UUID id) throws SQLException {
    statement.setString(index, id.toString());
  }

  /** As the parameter of a row: in UTC, unless the type knows zones. */
  default String time(Instant time) {
    return TIME.format(time);
  }

  /** Reads an id as {@link #setId} wrote it, and throws it away. */
  @SuppressWarnings({"CheckReturnValue", "ReturnValueIgnored"})
  default void readId(ResultSet row, int index) throws SQLException {
    UUID.fromString(row.getString(index));
  }

  /** Reads a time, and throws it away. */
  @SuppressWarnings("CheckReturnValue")
  default void readTime(ResultSet row, int index) throws SQLException {
    row.getObject(index, LocalDateTime.class);
  }

  /**
   * Inserts messages into a table, {@code ${t}}; the table {@code number} has the numbers from 0 to
   * 9,999. Parameters: the keys' prefix, their number twice (0: each message has its own), payload,
   * the first message's number, how many.
   */
  String fill();

  /** Statistics of a table and, where it is not done at once, the removal of deleted rows. */
  String tidy(String table);

  /** Writes what is due to be written; or null where nobody may ask for it. */
  default @Nullable String checkpoint() {
    return null;
  }

  /** Whether it was refused because this user may not do it. */
  default boolean isNotAllowed(SQLException e) {
    return false;
  }

  /** Opens a transaction that sees the present until it ends, on a session of its own. */
  void pinSnapshot(Session session, String schema) throws SQLException;

  /** Waits, when all pools are closed, until their writes are counted. */
  default void awaitCounted(Session session, String pools) {}

  /** Rows inserted, updated and deleted in a table so far; or {@link #UNKNOWN}. */
  long writes(Session session, String schema, String table);

  /** Bytes of the log so far; or {@link #UNKNOWN}. */
  long logBytes(Session session);
}
