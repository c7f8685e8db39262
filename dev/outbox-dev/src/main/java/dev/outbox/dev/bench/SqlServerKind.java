package dev.outbox.dev.bench;

import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.sqlserver.SqlServerInboxStore;
import dev.outbox.store.sqlserver.SqlServerOutboxStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** SQL Server. */
final class SqlServerKind implements JdbcKind {

  @Override
  public String name() {
    return "SQL Server";
  }

  @Override
  public String urlPrefix() {
    return "jdbc:sqlserver:";
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> store(DataSource dataSource) {
    return SqlServerOutboxStore.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return SqlServerInboxStore.builder(dataSource);
  }

  @Override
  public String named(String url, String name) {
    return url + (url.endsWith(";") ? "" : ";") + "applicationName=" + name;
  }

  @Override
  public String grant(Connection connection) throws SQLException {
    return "grant create schema, create table to [%s]"
        .formatted(connection.getMetaData().getUserName());
  }

  @Override
  public String sessions() {
    return """
    select session_id from sys.dm_exec_sessions
    where program_name like ? escape '!' and session_id <> @@spid
    """;
  }

  @Override
  public String end() {
    return "kill %s";
  }

  /** There is no CASCADE. Not for ever does it wait for a session that may not be ended. */
  @Override
  public List<String> drop(Connection connection, String schema) throws SQLException {
    List<String> all = new ArrayList<>(List.of("set lock_timeout 30000"));
    String types = "select name from sys.table_types where schema_id = schema_id(?)";
    String tables = "select name from sys.tables where schema_id = schema_id(?)";
    names(connection, tables, schema).forEach(t -> all.add("drop table " + schema + "." + t));
    names(connection, types, schema).forEach(t -> all.add("drop type " + schema + "." + t));
    all.add("drop schema if exists " + schema);
    return all;
  }

  private static List<String> names(Connection connection, String sql, String schema)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, schema);
      try (ResultSet rows = statement.executeQuery()) {
        List<String> names = new ArrayList<>();
        while (rows.next()) {
          names.add(rows.getString(1));
        }
        return names;
      }
    }
  }
}
