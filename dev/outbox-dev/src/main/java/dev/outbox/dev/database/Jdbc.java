package dev.outbox.dev.database;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.cli.Address;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What several programs do with a relational database. */
public final class Jdbc {
  private Jdbc() {}

  /**
   * The settings of a pool. Where the address has a schema, {@link JdbcPlace#removeSchemas} finds
   * its sessions.
   */
  public static HikariConfig config(StoreKind kind, Address address, String role, int connections) {
    HikariConfig config = new HikariConfig();
    String schema = address.schema();
    config.setJdbcUrl(
        schema == null ? address.url() : kind.named(address.url(), schema + "_" + role));
    config.setUsername(address.user().isEmpty() ? null : address.user());
    config.setPassword(address.password().isEmpty() ? null : address.password());
    config.setMaximumPoolSize(connections);
    config.setConnectionInitSql(schema == null ? null : kind.enter(schema));
    return config;
  }

  public static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  public static void update(Connection connection, String sql, @Nullable Object... parameters)
      throws SQLException {
    try (PreparedStatement update = prepared(connection, sql, parameters)) {
      update.executeUpdate();
    }
  }

  private static PreparedStatement prepared(
      Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < parameters.length; i++) {
      statement.setObject(i + 1, parameters[i]);
    }
    return statement;
  }

  /** The rows of a query, a list of columns each, as text; "null" is a text, too. */
  public static List<List<String>> rows(
      Connection connection, String sql, @Nullable Object... parameters) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, parameters);
        ResultSet rows = statement.executeQuery()) {
      List<List<String>> all = new ArrayList<>();
      while (rows.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          row.add(String.valueOf(rows.getString(i)));
        }
        all.add(row);
      }
      return all;
    }
  }

  /** The first column of the first row. */
  public static String text(Connection connection, String sql, @Nullable Object... parameters)
      throws SQLException {
    List<List<String>> rows = rows(connection, sql, parameters);
    if (rows.isEmpty()) {
      throw new SQLException("no row for " + sql);
    }
    return rows.get(0).get(0);
  }
}
