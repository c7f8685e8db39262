package dev.outbox.cli;

import dev.outbox.embedded.DatabaseServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of tests, each on a connection of its own. */
final class Sql {
  private Sql() {}

  static Connection connect(DatabaseServer server) throws SQLException {
    return DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
  }

  /** The first column, when there is one. */
  static List<String> query(DatabaseServer server, String sql) throws SQLException {
    try (Connection connection = connect(server);
        Statement statement = connection.createStatement()) {
      List<String> values = new ArrayList<>();
      if (statement.execute(sql)) {
        ResultSet rows = statement.getResultSet();
        while (rows.next()) {
          values.add(rows.getString(1));
        }
      }
      return values;
    }
  }

  /** The options that lead there. */
  static List<String> options(DatabaseServer server) {
    return List.of(
        "--url=" + server.jdbcUrl(), "--user=" + server.user(), "--password=" + server.password());
  }
}
