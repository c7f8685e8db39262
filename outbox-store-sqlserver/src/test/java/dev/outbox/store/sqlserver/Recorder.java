package dev.outbox.store.sqlserver;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import javax.sql.DataSource;

/** Stands for the driver: records what is executed with what, and answers as it was told. */
final class Recorder {

  /**
   * A parameter.
   *
   * @param setter the method that set it
   * @param jdbcType of {@link java.sql.Types}; null: the setter's
   */
  record Parameter(String setter, Object value, Integer jdbcType) {

    /** The type that Microsoft's driver declares for it, which begins with the T-SQL name. */
    String type() {
      if (jdbcType != null) {
        return ofJdbcType(jdbcType);
      }
      return switch (setter) {
        case "setNString" -> nvarchar(value == null ? 0 : ((String) value).length());
        case "setBytes" -> varbinary(value == null ? 0 : ((byte[]) value).length);
        case "setInt" -> "int";
        case "setLong" -> "bigint";
        case "setBoolean" -> "bit";
        default -> throw new IllegalStateException("nobody has looked what it makes of " + setter);
      };
    }

    private static String ofJdbcType(int type) {
      return switch (type) {
        case Types.NVARCHAR -> nvarchar(0);
        case Types.LONGNVARCHAR -> nvarchar(Integer.MAX_VALUE);
        case Types.VARBINARY -> varbinary(0);
        case Types.LONGVARBINARY -> varbinary(Integer.MAX_VALUE);
        case Types.INTEGER -> "int";
        case Types.BIGINT -> "bigint";
        default -> throw new IllegalStateException("nobody has looked what it makes of " + type);
      };
    }

    private static String nvarchar(int length) {
      return length <= 4_000 ? "nvarchar(4000)" : "nvarchar(max)";
    }

    private static String varbinary(int length) {
      return length <= 8_000 ? "varbinary(8000)" : "varbinary(max)";
    }
  }

  /** A statement that was executed, with its parameters by place. */
  record Execution(String sql, Map<Integer, Parameter> parameters) {}

  final List<Execution> executions = Collections.synchronizedList(new ArrayList<>());

  /** The last query timeout of each statement, in seconds. */
  final Map<String, Integer> timeouts = new ConcurrentHashMap<>();

  private final Function<String, List<Map<String, Object>>> rows;
  private final Function<String, Integer> count;
  int isolation = Connection.TRANSACTION_READ_COMMITTED;

  /**
   * @param rows what a query gives: values by the columns' names, in their order
   * @param count what each statement changes
   */
  Recorder(Function<String, List<Map<String, Object>>> rows, Function<String, Integer> count) {
    this.rows = rows;
    this.count = count;
  }

  /**
   * A row.
   *
   * @param columns their names, with spaces between
   */
  static Map<String, Object> row(String columns, Object... values) {
    String[] names = columns.split(" ");
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      row.put(names[i], values[i]);
    }
    return row;
  }

  DataSource dataSource() {
    return proxy(
        DataSource.class,
        (proxy, method, a) -> method.getName().equals("getConnection") ? connection() : null);
  }

  Connection connection() {
    return proxy(
        Connection.class,
        (proxy, method, a) ->
            switch (method.getName()) {
              case "prepareStatement" -> new Prepared((String) a[0]).statement();
              case "createStatement" -> plain();
              case "getMetaData" -> metaData();
              case "getCatalog" -> "company";
              case "nativeSQL" -> a[0];
              case "getTransactionIsolation" -> isolation;
              case "setTransactionIsolation" -> {
                executions.add(new Execution("setTransactionIsolation " + a[0], Map.of()));
                yield null;
              }
              default -> nothing(method);
            });
  }

  private DatabaseMetaData metaData() {
    return proxy(
        DatabaseMetaData.class,
        (proxy, method, a) ->
            switch (method.getName()) {
              case "getDatabaseProductName" -> "Microsoft SQL Server";
              case "getDatabaseProductVersion" -> "16.00.4165";
              case "getDatabaseMajorVersion" -> 16;
              case "getURL" -> "jdbc:sqlserver://recorder";
              case "getSQLKeywords" -> "";
              case "getUserName" -> "login";
              default -> nothing(method);
            });
  }

  private Statement plain() {
    return proxy(
        Statement.class,
        (proxy, method, a) -> {
          if (!method.getName().startsWith("execute")) {
            return method.getName().equals("getUpdateCount") ? -1 : nothing(method);
          }
          String sql = (String) a[0];
          executions.add(new Execution(sql, Map.of()));
          return switch (method.getName()) {
            case "executeQuery" -> results(sql, rows.apply(sql));
            case "executeUpdate" -> count.apply(sql);
            default -> false;
          };
        });
  }

  private final class Prepared {
    private final String sql;
    private Map<Integer, Parameter> parameters = new TreeMap<>();
    private int batched;

    Prepared(String sql) {
      this.sql = sql;
    }

    PreparedStatement statement() {
      return proxy(
          PreparedStatement.class,
          (proxy, method, a) ->
              switch (method.getName()) {
                case "addBatch" -> {
                  record();
                  batched++;
                  yield null;
                }
                case "executeBatch" -> {
                  int[] counts = new int[batched];
                  Arrays.fill(counts, count.apply(sql));
                  batched = 0;
                  yield counts;
                }
                case "execute" -> {
                  record();
                  yield !rows.apply(sql).isEmpty();
                }
                case "executeQuery" -> {
                  record();
                  yield results(sql, rows.apply(sql));
                }
                case "executeUpdate", "getUpdateCount" -> {
                  if (method.getName().equals("executeUpdate")) {
                    record();
                  }
                  yield count.apply(sql);
                }
                case "getResultSet" -> results(sql, rows.apply(sql));
                case "setQueryTimeout" -> timeouts.put(sql, (Integer) a[0]);
                default -> {
                  if (method.getName().startsWith("set") && a != null && a.length >= 2) {
                    parameters.put((Integer) a[0], parameter(method.getName(), a));
                  }
                  yield nothing(method);
                }
              });
    }

    private static Parameter parameter(String setter, Object[] a) {
      return setter.equals("setNull")
          ? new Parameter(setter, null, (Integer) a[1])
          : new Parameter(setter, a[1], a.length > 2 ? (Integer) a[2] : null);
    }

    private void record() {
      executions.add(new Execution(sql, parameters));
      parameters = new TreeMap<>(parameters);
    }
  }

  private static ResultSet results(String sql, List<Map<String, Object>> rows) {
    int[] at = {-1};
    Object[] last = new Object[1];
    Function<Object, Object> read = column -> last[0] = value(rows.get(at[0]), named(sql, column));
    return proxy(
        ResultSet.class,
        (proxy, method, a) ->
            switch (method.getName()) {
              case "next" -> ++at[0] < rows.size();
              case "findColumn" ->
                  new ArrayList<>(rows.get(at[0]).keySet()).indexOf(named(sql, a[0])) + 1;
              case "getInt" -> number(read.apply(a[0])).intValue();
              case "getLong" -> number(read.apply(a[0])).longValue();
              case "getBoolean" -> number(read.apply(a[0])).intValue() != 0;
              case "getString", "getBytes", "getObject" -> read.apply(a[0]);
              case "wasNull" -> last[0] == null;
              case "getMetaData" -> columns(rows.get(0).keySet());
              default -> nothing(method);
            });
  }

  private static ResultSetMetaData columns(Collection<String> names) {
    return proxy(
        ResultSetMetaData.class,
        (proxy, method, a) ->
            switch (method.getName()) {
              case "getColumnCount" -> names.size();
              case "getColumnLabel", "getColumnName" ->
                  new ArrayList<>(names).get((Integer) a[0] - 1);
              default -> nothing(method);
            });
  }

  /** A column that is asked for by name has that name in the statement. */
  private static Object named(String sql, Object column) {
    if (column instanceof String name && !sql.matches("(?s).*\\b" + name + "\\b.*")) {
      throw new IllegalArgumentException("no column " + name + " in " + sql);
    }
    return column;
  }

  private static Object value(Map<String, Object> row, Object column) {
    if (column instanceof String name) {
      if (!row.containsKey(name)) {
        throw new IllegalArgumentException("no column " + name + " in " + row.keySet());
      }
      return row.get(name);
    }
    return new ArrayList<>(row.values()).get((Integer) column - 1);
  }

  private static Number number(Object value) {
    return value == null ? 0 : (Number) value;
  }

  private static Object nothing(Method method) {
    Class<?> type = method.getReturnType();
    if (type == boolean.class) {
      return false;
    }
    return type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
  }

  @SuppressWarnings("unchecked")
  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return (T)
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, a) ->
                switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == a[0];
                  case "toString" -> type.getSimpleName();
                  case "unwrap" -> proxy;
                  default -> handler.invoke(proxy, method, a);
                });
  }
}
