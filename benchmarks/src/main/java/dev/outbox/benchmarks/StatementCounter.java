package dev.outbox.benchmarks;

import dev.outbox.benchmarks.Cost.ClientWork;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * Counts what goes through JDBC: see {@link ClientWork} for what counts as what. Prepared
 * statements count as the statements of their text, each time they are executed. What a pool or a
 * driver does by itself is not seen, as BEGIN, which the drivers send along.
 */
final class StatementCounter {
  private final AtomicLong statements = new AtomicLong();
  private final AtomicLong roundTrips = new AtomicLong();

  ClientWork counted() {
    return new ClientWork(statements.get(), roundTrips.get());
  }

  DataSource watch(DataSource dataSource) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = method.invoke(dataSource, arguments);
          return result instanceof Connection connection ? watch(connection) : result;
        });
  }

  private Connection watch(Connection connection) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          String name = method.getName();
          if (name.equals("commit") || name.equals("rollback")) {
            roundTrips.incrementAndGet();
          }
          Object result = method.invoke(connection, arguments);
          if (result instanceof PreparedStatement prepared) {
            return watch(PreparedStatement.class, prepared, count((String) arguments[0]));
          }
          return result instanceof Statement plain ? watch(Statement.class, plain, 1) : result;
        });
  }

  private <S extends Statement> S watch(Class<S> type, S statement, int each) {
    AtomicLong batch = new AtomicLong();
    return proxy(
        type,
        (method, arguments) -> {
          String name = method.getName();
          boolean hasText = arguments != null && arguments.length > 0;
          int texts = hasText && arguments[0] instanceof String sql ? count(sql) : each;
          if (name.equals("addBatch")) {
            batch.addAndGet(texts);
          } else if (name.equals("executeBatch") || name.equals("executeLargeBatch")) {
            statements.addAndGet(batch.getAndSet(0));
            roundTrips.incrementAndGet();
          } else if (name.startsWith("execute")) {
            statements.addAndGet(texts);
            roundTrips.incrementAndGet();
          }
          return method.invoke(statement, arguments);
        });
  }

  /** How many statements a text has; semicolons in quotes and comments do not count. */
  static int count(String sql) {
    String bare =
        sql.replaceAll("(?s)/\\*.*?\\*/", " ")
            .replaceAll("--[^\\n]*", " ")
            .replaceAll("'[^']*'", "''");
    int count = 0;
    for (String part : bare.split(";", -1)) {
      if (!part.isBlank()) {
        count++;
      }
    }
    return count;
  }

  private interface Call {
    Object of(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  private static <I> I proxy(Class<I> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            StatementCounter.class.getClassLoader(),
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
