package dev.outbox.dev.bench;

import dev.outbox.store.sqlserver.SqlServerInboxStore;
import dev.outbox.store.sqlserver.SqlServerOutboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** SQL Server. */
final class SqlServerKind extends JdbcKind {

  SqlServerKind() {
    super(
        "SQL Server",
        "jdbc:sqlserver:",
        "sqlserver.sql",
        SqlServerOutboxStore::builder,
        SqlServerInboxStore::builder);
  }

  @Override
  public String named(String url, String session) {
    return url + (url.endsWith(";") ? "" : ";") + "applicationName=" + session;
  }

  /** There is no CASCADE. Not for ever does it wait for a session that may not be ended. */
  @Override
  List<String> drop(Connection connection, String schema) throws SQLException {
    List<String> all = new ArrayList<>(List.of("set lock_timeout 30000"));
    String types = "select name from sys.table_types where schema_id = schema_id(?)";
    String tables = "select name from sys.tables where schema_id = schema_id(?)";
    texts(connection, tables, schema).forEach(t -> all.add("drop table " + schema + "." + t));
    texts(connection, types, schema).forEach(t -> all.add("drop type " + schema + "." + t));
    all.add("drop schema if exists " + schema);
    return all;
  }
}
