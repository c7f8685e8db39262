package dev.outbox.store.postgres.torture;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;

/**
 * What all processes do, in one order: each row draws its number inside its own insert, in
 * auto-commit mode, so what returned before another began has the lower number. A row stands there
 * before what it tells of is answered.
 */
record Journal(DataSource dataSource) {

  static final String TABLES =
      """
      create table torture_key (key text primary key, last integer not null default 0);
      create table torture_delivery (
        number bigserial primary key, process text, key text, nth integer, id uuid);
      create table torture_claim (
        number bigserial primary key, at timestamptz default clock_timestamp(), claim uuid, event text, seqs bigint[], keys text[]);
      create table torture_fault (kind text);
      create table torture_repaired (id uuid primary key)
      """;

  /** Messages of one process reach the broker, in this order. */
  void delivered(String process, List<Work> messages) {
    run(
        "insert into torture_delivery (process, key, nth, id)"
            + " select ?, * from unnest(?::text[], ?::int[], ?::uuid[])",
        (connection, statement) -> {
          statement.setString(1, process);
          statement.setArray(2, array(connection, "text", messages, Work::key));
          statement.setArray(3, array(connection, "int", messages, Work::nth));
          statement.setArray(4, array(connection, "uuid", messages, Work::id));
          return statement.executeUpdate();
        });
  }

  /**
   * @param event begin, end, accepted or lost
   */
  void claim(java.util.UUID claim, String event, Collection<Long> sequences, List<String> keys) {
    run(
        "insert into torture_claim (claim, event, seqs, keys) values (?, ?, ?, ?)",
        (connection, statement) -> {
          statement.setObject(1, claim);
          statement.setString(2, event);
          statement.setArray(3, connection.createArrayOf("bigint", sequences.toArray()));
          statement.setArray(4, connection.createArrayOf("text", keys.toArray()));
          return statement.executeUpdate();
        });
  }

  void fault(String kind) {
    run(
        "insert into torture_fault (kind) values (?)",
        (connection, statement) -> {
          statement.setString(1, kind);
          return statement.executeUpdate();
        });
  }

  /** Somebody has repaired what made the broker reject this message. */
  void repair(java.util.UUID id) {
    run(
        "insert into torture_repaired (id) values (?)",
        (connection, statement) -> {
          statement.setObject(1, id);
          return statement.executeUpdate();
        });
  }

  boolean isRepaired(java.util.UUID id) {
    return run(
        "select from torture_repaired where id = ?",
        (connection, statement) -> {
          statement.setObject(1, id);
          try (ResultSet rows = statement.executeQuery()) {
            return rows.next();
          }
        });
  }

  private interface Statement<R> {
    R run(Connection connection, PreparedStatement statement) throws SQLException;
  }

  private <R> R run(String sql, Statement<R> work) {
    try (Connection connection = dataSource.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      return work.run(connection, statement);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Array array(
      Connection connection,
      String type,
      List<Work> messages,
      java.util.function.Function<Work, Object> column)
      throws SQLException {
    return connection.createArrayOf(type, messages.stream().map(column).toArray());
  }
}
