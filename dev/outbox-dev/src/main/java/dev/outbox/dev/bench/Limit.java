package dev.outbox.dev.bench;

import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.StoreKind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collections;

/**
 * The limit: what one can do at most with a table of messages when order, retries, delays and dead
 * letters are of no interest. What is fixed here, and why nothing faster is known:
 *
 * <ul>
 *   <li><b>Table</b>: the columns of a message without those that only our algorithm needs, no
 *       constraints, and one index, the primary key on seq. Any further index would have to be
 *       written and never be read.
 *   <li><b>Take</b>: the first ones in the order of that index, locked, past what others have
 *       locked. The order costs nothing, the scan begins at the oldest row, and workers do not wait
 *       for each other. On PostgreSQL a sequential scan without ORDER BY begins at the same rows
 *       and reads every empty page before them.
 *   <li><b>Remove</b>: one deletion by primary keys. An UPDATE instead would write a row more for
 *       each message. On PostgreSQL the ids are one binary array; on MySQL a list of as many as a
 *       batch has, filled up with the last, so that it is prepared once. A JSON list joined in
 *       front of the table is a tenth slower there, but would be looked up one by one where the
 *       list is planned as a scan: in a table of some hundred messages, where the scans of two
 *       workers then deadlock. One of them begins again; in a large table that was never seen.
 *   <li><b>Batch</b>: as the relay's; larger ones hold locks for longer and gain little.
 *   <li><b>Connection</b>: each worker keeps one, in one transaction a batch at READ COMMITTED:
 *       three round trips. Both statements are prepared once; pool, driver and settings are the
 *       store's.
 *   <li><b>Reading</b>: all columns that a publisher gets are decoded, and nothing is made of them.
 *   <li><b>Insert</b>: all messages of a transaction in one statement of several rows: one round
 *       trip ({@link BenchClient}).
 * </ul>
 *
 * <p>One worker of it, used by one thread.
 */
final class Limit implements AutoCloseable {
  static final String TABLE = "like_message";

  private static final int DEADLOCK = 1213; // of MySQL and MariaDB

  private static final int COLUMNS = 15;

  /** Its columns are read by number. Parameter: how many. */
  private static final String TAKE =
      """
      select seq, id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
        headers, dedup_key, correlation_id, created_at, available_at, attempts, max_attempts
      from ${q}like_message
      order by seq
      limit ?
      for update skip locked
      """;

  private final boolean isPostgres;
  private final Business<Connection> session;
  private final PreparedStatement take;
  private final PreparedStatement remove;
  private final long[] sequences;

  /**
   * @param most of a batch
   */
  Limit(JdbcPlace place, int most) {
    isPostgres = place.kind() == StoreKind.POSTGRES;
    session = place.begin();
    sequences = new long[most];
    String ids = String.join(", ", Collections.nCopies(most, "?"));
    Connection connection = session.transaction();
    try {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      take = connection.prepareStatement(place.qualified(TAKE));
      take.setInt(1, most);
      remove =
          connection.prepareStatement(
              place.qualified(place.kind().sql("limit remove")).formatted(ids));
    } catch (SQLException e) {
      session.close();
      throw new IllegalStateException(
          "the limit's statements cannot be prepared: " + e.getMessage(), e);
    }
  }

  /** Takes, reads and deletes some messages; returns how many. */
  int batch() {
    try {
      int count = 0;
      try (ResultSet rows = take.executeQuery()) {
        while (rows.next()) {
          sequences[count++] = rows.getLong(1);
          for (int i = 2; i <= COLUMNS; i++) {
            Object unused = rows.getObject(i);
          }
        }
      }
      if (count > 0) {
        setRemoved(count);
        remove.executeUpdate();
      }
      session.transaction().commit();
      return count;
    } catch (SQLException e) {
      if (!isPostgres && e.getErrorCode() == DEADLOCK) {
        return 0; // it was rolled back
      }
      throw new IllegalStateException("the limit's statements failed: " + e.getMessage(), e);
    }
  }

  private void setRemoved(int count) throws SQLException {
    if (isPostgres) {
      Long[] boxed = Arrays.stream(sequences, 0, count).boxed().toArray(Long[]::new);
      remove.setArray(1, remove.getConnection().createArrayOf("bigint", boxed));
      return;
    }
    for (int i = 0; i < sequences.length; i++) {
      remove.setLong(i + 1, sequences[Math.min(i, count - 1)]);
    }
  }

  @Override
  public void close() {
    try (session;
        take;
        remove) {
      session.transaction().rollback();
    } catch (SQLException e) {
      throw new IllegalStateException("a connection cannot be given back: " + e.getMessage(), e);
    }
  }
}
