package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.Intercepted;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;

/** A data source that has each statement of the store explained right before it is run. */
final class Explained {
  private final List<Plan> plans = new CopyOnWriteArrayList<>();

  /**
   * @param statement with its values filled in
   * @param tables of each the columns of EXPLAIN
   */
  record Plan(String statement, List<Map<String, String>> tables) {}

  List<Plan> plans() {
    return List.copyOf(plans);
  }

  DataSource of(DataSource target) {
    return Intercepted.of(target, this::call);
  }

  private Object call(Object target, Method method, Object[] arguments) throws Exception {
    if (target instanceof PreparedStatement statement
        && List.of("execute", "executeQuery", "executeUpdate", "addBatch")
            .contains(method.getName())) {
      add(statement.getConnection(), text(statement));
    } else if (target instanceof Statement statement && method.getName().equals("executeUpdate")) {
      add(statement.getConnection(), (String) arguments[0]);
    }
    return method.invoke(target, arguments);
  }

  private void add(Connection connection, String text) throws SQLException {
    if (!text.startsWith("show ")) { // which cannot be explained
      plans.add(new Plan(text, explain(connection, text)));
    }
  }

  /** The driver's statement shows its text behind its class's name. */
  private static String text(PreparedStatement statement) {
    String shown = statement.toString();
    String name = "ClientPreparedStatement: ";
    int at = shown.indexOf(name);
    if (at < 0) {
      throw new IllegalStateException("no statement of the driver's: " + shown);
    }
    return shown.substring(at + name.length());
  }

  private static List<Map<String, String>> explain(Connection connection, String text)
      throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("explain format=traditional " + text)) {
      ResultSetMetaData columns = rows.getMetaData();
      List<Map<String, String>> tables = new ArrayList<>();
      while (rows.next()) {
        Map<String, String> table = new LinkedHashMap<>();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          table.put(columns.getColumnLabel(i), String.valueOf(rows.getString(i)));
        }
        tables.add(table);
      }
      return tables;
    }
  }
}
