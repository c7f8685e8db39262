package dev.outbox.dev.bench;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A database on which the benchmarks have run, with their statements. In them {@code ${s}} stands
 * for the schema.
 */
abstract class BenchKind extends JdbcKind {
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
    return "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
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
   * 9,999. Parameters: the keys' prefix, their number twice (0: each message has its own), payload,
   * the first message's number, how many.
   */
  abstract String fill();

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
