package dev.outbox.benchmarks;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.HeaderCodec;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/**
 * The limit on PostgreSQL: what one can do at most with a table of messages when order, retries,
 * delays and dead letters are of no interest. What is fixed here, and why nothing faster is known:
 *
 * <ul>
 *   <li><b>Table</b>: the columns of a message without the two that only our algorithm needs
 *       (bucket, txid), no constraints, and one index, the primary key on seq. Any further index
 *       would have to be written and never be read.
 *   <li><b>Take</b>: {@code select … order by seq limit 500 for update skip locked}. The order is
 *       that of the only index, so it costs nothing and the scan begins at the oldest row; SKIP
 *       LOCKED lets workers pass each other without waiting. A sequential scan without ORDER BY
 *       begins at the same rows and reads every empty page before them.
 *   <li><b>Remove</b>: one {@code delete … where seq = any(?)} with a binary array, through the
 *       primary key. An UPDATE instead would write a row more for each message.
 *   <li><b>Batch</b>: 500, as the relay's; larger ones hold locks for longer and gain little.
 *   <li><b>Connection</b>: each worker keeps one, in one transaction a batch: three round trips
 *       (BEGIN travels with the select). Both statements are prepared once and executed often, so
 *       that the driver has them prepared on the server after five times, its default; pool, driver
 *       and settings are the store's.
 *   <li><b>Reading</b>: all columns that a publisher gets are decoded, and nothing is made of them.
 *   <li><b>Insert</b>: all messages of a transaction in one statement of several rows, prepared
 *       once for each number of rows: one round trip.
 * </ul>
 */
final class PostgresLimit {
  private static final String TABLE =
      """
      create table ${s}.like_message (
        seq             bigint generated always as identity primary key,
        status          text not null default 'PENDING',
        id              uuid not null default gen_random_uuid(),
        aggregate_type  text not null,
        aggregate_id    text not null,
        event_type      text not null,
        partition_key   text,
        payload         bytea not null,
        content_type    text not null default 'application/json',
        headers         json not null default '[]',
        dedup_key       text,
        correlation_id  text,
        created_at      timestamptz not null default now(),
        available_at    timestamptz,
        attempts        integer not null default 0,
        last_error      text,
        last_failed_at  timestamptz
      )
      -- As the outbox's own table: a fixed number of rows, so that vacuum keeps up.
      with (
        autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0,
        autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000
      )
      """;

  private static final String TAKE =
      """
      select seq, id, aggregate_type, aggregate_id, event_type, partition_key, payload, content_type,
        headers, dedup_key, correlation_id, created_at, available_at, attempts
      from ${s}.like_message
      order by seq
      limit ?
      for update skip locked
      """;

  private static final String REMOVE = "delete from ${s}.like_message where seq = any(?)";

  private static final String INSERT =
      """
      insert into ${s}.like_message (id, aggregate_type, aggregate_id, event_type, partition_key,
        payload, content_type, headers, dedup_key, correlation_id, available_at)
      values\s""";

  private static final String ROW = "(?, ?, ?, ?, ?, ?, ?, ?::json, ?, ?, ?::timestamptz)";

  private PostgresLimit() {}

  static String table(String schema) {
    return fill(TABLE, schema);
  }

  private static String fill(String sql, String schema) {
    return sql.replace("${s}", schema);
  }

  /** Inserts messages in the connection's transaction. */
  static void insert(Connection connection, String schema, List<OutboxMessage> messages)
      throws SQLException {
    String rows = String.join(", ", Collections.nCopies(messages.size(), ROW));
    try (PreparedStatement insert = connection.prepareStatement(fill(INSERT, schema) + rows)) {
      int i = 0;
      for (OutboxMessage message : messages) {
        insert.setObject(++i, message.id());
        insert.setString(++i, message.aggregateType());
        insert.setString(++i, message.aggregateId());
        insert.setString(++i, message.eventType());
        insert.setString(++i, message.partitionKey());
        insert.setBytes(++i, message.payload());
        insert.setString(++i, message.contentType());
        insert.setString(++i, HeaderCodec.encode(message.headers()));
        insert.setString(++i, message.dedupKey());
        insert.setString(++i, message.correlationId());
        insert.setString(++i, message.availableAt() == null ? null : "" + message.availableAt());
      }
      insert.executeUpdate();
    }
  }

  /** One worker of the loop. */
  static final class Worker implements BenchDatabase.LimitWorker {
    private final Connection connection;
    private final PreparedStatement take;
    private final PreparedStatement remove;

    Worker(Connection connection, String schema) throws SQLException {
      this.connection = connection;
      connection.setAutoCommit(false);
      take = connection.prepareStatement(fill(TAKE, schema));
      remove = connection.prepareStatement(fill(REMOVE, schema));
    }

    @Override
    public int batch(int most) {
      try {
        take.setInt(1, most);
        long[] seqs = new long[most];
        int count = 0;
        try (ResultSet rows = take.executeQuery()) {
          while (rows.next()) {
            read(rows);
            seqs[count++] = rows.getLong(1);
          }
        }
        if (count > 0) {
          Array array = connection.createArrayOf("bigint", boxed(seqs, count));
          remove.setArray(1, array);
          remove.executeUpdate();
        }
        connection.commit();
        return count;
      } catch (SQLException e) {
        throw new IllegalStateException("the limit's statements failed: " + e.getMessage(), e);
      }
    }

    private static Long[] boxed(long[] seqs, int count) {
      Long[] boxed = new Long[count];
      for (int i = 0; i < count; i++) {
        boxed[i] = seqs[i];
      }
      return boxed;
    }

    /** Decodes what a publisher gets. */
    @SuppressWarnings("CheckReturnValue")
    private static void read(ResultSet rows) throws SQLException {
      rows.getObject(2, UUID.class);
      for (int text = 3; text <= 6; text++) {
        rows.getString(text);
      }
      rows.getBytes(7);
      for (int text = 8; text <= 11; text++) {
        rows.getString(text);
      }
      rows.getObject(12, OffsetDateTime.class);
      rows.getObject(13, OffsetDateTime.class);
      rows.getInt(14);
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
