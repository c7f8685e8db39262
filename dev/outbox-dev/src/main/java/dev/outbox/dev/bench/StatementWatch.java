package dev.outbox.dev.bench;

import dev.outbox.dev.bench.Cost.ClientWork;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * Counts what goes through JDBC: see {@link ClientWork} for what counts as what. Prepared
 * statements count as the statements of their text, each time they are executed. What a pool or a
 * driver does by itself is not seen, as BEGIN, which the drivers send along.
 */
public final class StatementWatch {
  private final WorkCounter counter;

  private StatementWatch(WorkCounter counter) {
    this.counter = counter;
  }

  /** The same data source, whose work is counted. */
  public static DataSource watch(DataSource dataSource, WorkCounter counter) {
    StatementWatch watch = new StatementWatch(counter);
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = method.invoke(dataSource, arguments);
          return result instanceof Connection connection ? watch.watch(connection) : result;
        });
  }

  private Connection watch(Connection connection) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          String name = method.getName();
          if (name.equals("commit") || name.equals("rollback")) {
            counter.roundTrip();
          }
          Object result = method.invoke(connection, arguments);
          if (result instanceof CallableStatement call) {
            return watch(CallableStatement.class, call, names((String) arguments[0]));
          }
          if (result instanceof PreparedStatement prepared) {
            return watch(PreparedStatement.class, prepared, names((String) arguments[0]));
          }
          return result instanceof Statement plain
              ? watch(Statement.class, plain, List.of())
              : result;
        });
  }

  private <S extends Statement> S watch(Class<S> type, S statement, List<String> each) {
    List<String> batch = new ArrayList<>();
    return proxy(
        type,
        (method, arguments) -> {
          String name = method.getName();
          boolean hasText = arguments != null && arguments.length > 0;
          List<String> names = hasText && arguments[0] instanceof String sql ? names(sql) : each;
          if (name.equals("addBatch")) {
            batch.addAll(names);
          } else if (name.equals("executeBatch") || name.equals("executeLargeBatch")) {
            executed(batch);
            batch.clear();
          } else if (name.startsWith("execute")) {
            executed(names);
          }
          return method.invoke(statement, arguments);
        });
  }

  private void executed(List<String> names) {
    names.forEach(counter::statement);
    counter.roundTrip();
  }

  /** The first word of each statement of a text; semicolons in quotes and comments end none. */
  static List<String> names(String sql) {
    String bare =
        sql.replaceAll("(?s)/\\*.*?\\*/", " ")
            .replaceAll("--[^\\n]*", " ")
            .replaceAll("'[^']*'", "''");
    List<String> names = new ArrayList<>();
    for (String part : bare.split(";", -1)) {
      if (!part.isBlank()) {
        names.add(part.strip().split("\\W", 2)[0].toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }

  private interface Call {
    Object of(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  private static <I> I proxy(Class<I> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            StatementWatch.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return call.of(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause() != null ? e.getCause() : e;
              }
            }));
  }
}
