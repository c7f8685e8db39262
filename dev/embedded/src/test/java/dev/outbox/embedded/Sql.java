package dev.outbox.embedded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Single statements. */
final class Sql {
  private Sql() {}

  static Connection connect(DatabaseServer server) throws SQLException {
    return DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
  }

  static void execute(DatabaseServer server, String sql) throws SQLException {
    try (Connection connection = connect(server);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first column. */
  static List<String> query(DatabaseServer server, String sql) throws SQLException {
    try (Connection connection = connect(server)) {
      return query(connection, sql);
    }
  }

  static List<String> query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> result = new ArrayList<>();
      while (rows.next()) {
        result.add(rows.getString(1));
      }
      return result;
    }
  }
}
