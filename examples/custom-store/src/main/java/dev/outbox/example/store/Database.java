package dev.outbox.example.store;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Plain JDBC in fewer words: transactions, parameters, times, and what errors mean. */
final class Database {
  private final DataSource dataSource;

  Database(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /** What to do in a transaction; {@code now} is the database's clock (T1). */
  interface Work<R> {
    R run(Connection connection, Instant now) throws SQLException;
  }

  /** How to read the row that a result is at. */
  interface Read<R> {
    R from(ResultSet row) throws SQLException;
  }

  /** Works in the caller's transaction, and leaves it open (A2). */
  static <R> R within(Connection transaction, Work<R> work) {
    try {
      if (transaction.getAutoCommit()) {
        throw new NoTransactionException(
            "the connection is in auto-commit: call setAutoCommit(false) before the append");
      }
      return work.run(transaction, now(transaction));
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  /** Works in a transaction of its own, when those before it have ended. */
  <R> R inTurn(Work<R> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        update(connection, "set transaction isolation level read committed");
        update(connection, "update outbox_turn set turn = turn + 1");
        R result = work.run(connection, now(connection));
        connection.commit();
        return result;
      } finally {
        connection.rollback(); // does nothing after the commit
      }
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  /** Runs statements that are separated by semicolons. */
  void execute(String statements) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements.split(";", -1)) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw problem(e);
    }
  }

  static int update(Connection connection, String sql, @Nullable Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  /** False when the row is there already; waits while another transaction is about to insert it. */
  static boolean insertUnique(Connection connection, String sql, @Nullable Object... values)
      throws SQLException {
    try {
      return update(connection, sql, values) > 0;
    } catch (SQLIntegrityConstraintViolationException e) {
      return false;
    }
  }

  static <R> List<R> query(
      Connection connection, String sql, Read<R> read, @Nullable Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, values);
        ResultSet row = statement.executeQuery()) {
      List<R> rows = new ArrayList<>();
      while (row.next()) {
        rows.add(read.from(row));
      }
      return rows;
    }
  }

  private static PreparedStatement prepare(
      Connection connection, String sql, @Nullable Object[] values) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      Object value = values[i];
      statement.setObject(i + 1, value instanceof Instant t ? t.atOffset(ZoneOffset.UTC) : value);
    }
    return statement;
  }

  static @Nullable Instant time(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }

  private static Instant now(Connection connection) throws SQLException {
    Read<OffsetDateTime> first = row -> row.getObject(1, OffsetDateTime.class);
    return query(connection, "values current_timestamp(6)", first).get(0).toInstant();
  }

  private static OutboxException problem(SQLException e) {
    String state = String.valueOf(e.getSQLState());
    if (state.startsWith("42")) {
      return new SchemaException(
          "the outbox tables are missing or of another version: call migrate() (" + e + ")", e);
    }
    return state.startsWith("40") || state.startsWith("08")
        ? new TransientOutboxException("roll back and run the transaction again: " + e, e)
        : new OutboxException("the database refused it: " + e, e);
  }
}
