package dev.outbox.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Sees each statement before the database does, and may change it or do something first. */
public final class Rewriting {
  private Rewriting() {}

  /**
   * @param statement gets the text that is to be prepared, and gives the one that is
   */
  public static DataSource of(DataSource dataSource, UnaryOperator<String> statement) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = call(dataSource, method, arguments);
          return result instanceof Connection connection
              ? preparing(connection, statement)
              : result;
        });
  }

  private static Connection preparing(Connection connection, UnaryOperator<String> statement) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("prepareStatement")) {
            arguments[0] = statement.apply((String) arguments[0]);
          }
          return call(connection, method, arguments);
        });
  }

  private interface Handler {
    Object handle(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            Rewriting.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> handler.handle(method, arguments)));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
