package dev.outbox.dev.bench;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Collections;
import java.util.List;

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
 *       for each other.
 *   <li><b>Remove</b>: one deletion by primary keys. An UPDATE instead would write a row more for
 *       each message.
 *   <li><b>Batch</b>: as the relay's, 500; larger ones hold locks for longer and gain little.
 *   <li><b>Connection</b>: each worker keeps one, in one transaction a batch at READ COMMITTED:
 *       three round trips. Both statements are prepared once; pool, driver and settings are the
 *       store's.
 *   <li><b>Reading</b>: all columns that a publisher gets are decoded, and nothing is made of them.
 *   <li><b>Insert</b>: all messages of a transaction in one statement of several rows: one round
 *       trip.
 * </ul>
 */
final class JdbcLimit {
  /**
   * The oldest messages that nobody else has, locked, with what a publisher gets; {@link Worker}
   * reads the columns by number. Parameter: how many.
   */
  private static final String TAKE =
      """
      select seq, id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
        headers, dedup_key, correlation_id, created_at, available_at, attempts, max_attempts
      from ${s}.like_message
      order by seq
      limit ?
      for update skip locked
      """;

  private static final String INSERT =
      """
      insert into ${s}.like_message (id, aggregate_type, aggregate_id, event_type, partition_key,
        payload, content_type, headers, dedup_key, correlation_id, max_attempts, available_at)
      values\s""";

  private JdbcLimit() {}

  /** Inserts messages in the connection's transaction. */
  static void insert(
      JdbcKind kind, Connection connection, String schema, List<OutboxMessage> messages)
      throws SQLException {
    String rows = String.join(", ", Collections.nCopies(messages.size(), kind.sql("limit row")));
    try (PreparedStatement insert =
        connection.prepareStatement(JdbcKind.in(schema, INSERT) + rows)) {
      int i = 0;
      for (OutboxMessage message : messages) {
        kind.setId(insert, ++i, message.id());
        insert.setString(++i, message.aggregateType());
        insert.setString(++i, message.aggregateId());
        insert.setString(++i, message.eventType());
        insert.setString(++i, message.partitionKey());
        insert.setBytes(++i, message.payload());
        insert.setString(++i, message.contentType());
        insert.setString(++i, Header.toJson(message.headers()));
        insert.setString(++i, message.dedupKey());
        insert.setString(++i, message.correlationId());
        insert.setObject(++i, message.maxAttempts(), Types.INTEGER);
        insert.setString(++i, null); // when it is due: at once
      }
      insert.executeUpdate();
    }
  }

  /** One worker of the loop. */
  static final class Worker implements BenchDatabase.LimitWorker {
    private final JdbcKind kind;
    private final Connection connection;
    private final PreparedStatement take;
    private final PreparedStatement remove;
    private final long[] sequences;

    Worker(JdbcKind kind, Connection connection, String schema, int most) throws SQLException {
      this.kind = kind;
      this.connection = connection;
      sequences = new long[most];
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      connection.setAutoCommit(false);
      take = connection.prepareStatement(JdbcKind.in(schema, TAKE));
      take.setInt(1, most);
      remove =
          connection.prepareStatement(
              JdbcKind.in(
                  schema,
                  kind.sql("limit remove")
                      .formatted(String.join(", ", Collections.nCopies(most, "?")))));
    }

    @Override
    public int batch() {
      try {
        int count = 0;
        try (ResultSet rows = take.executeQuery()) {
          while (rows.next()) {
            read(rows);
            sequences[count++] = rows.getLong(1);
          }
        }
        if (count > 0) {
          kind.setRemoved(remove, sequences, count);
          remove.executeUpdate();
        }
        connection.commit();
        return count;
      } catch (SQLException e) {
        if (kind.isConflict(e)) {
          return 0;
        }
        throw new IllegalStateException("the limit's statements failed: " + e.getMessage(), e);
      }
    }

    /** Decodes what a publisher gets. */
    @SuppressWarnings("CheckReturnValue")
    private void read(ResultSet row) throws SQLException {
      kind.readId(row, 2);
      for (int text = 3; text <= 6; text++) {
        row.getString(text);
      }
      row.getBytes(7);
      for (int text = 8; text <= 11; text++) {
        row.getString(text);
      }
      kind.readTime(row, 12);
      kind.readTime(row, 13);
      row.getInt(14);
      row.getObject(15, Integer.class);
    }

    @Override
    public void close() {
      try (connection;
          take;
          remove) {
        connection.rollback();
        connection.setAutoCommit(true);
      } catch (SQLException e) {
        throw new IllegalStateException("a connection cannot be given back: " + e.getMessage(), e);
      }
    }
  }
}
