package dev.outbox.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Data sources of which each call, and each of their connections and statements, is seen. */
public final class Intercepted {
  private static final Set<Class<?>> INNER =
      Set.of(Connection.class, Statement.class, PreparedStatement.class);

  private Intercepted() {}

  /** Does what a call asks for, or something else. */
  public interface Calls {
    /**
     * @param target the data source, or a connection or a statement of it
     */
    Object call(Object target, Method method, Object[] arguments) throws Throwable;
  }

  /** Opens connections. */
  public interface Open {
    Connection connection() throws SQLException;
  }

  public static DataSource of(DataSource dataSource, Calls calls) {
    return (DataSource) of(DataSource.class, dataSource, calls);
  }

  public static Connection of(Connection connection, Calls calls) {
    return (Connection) of(Connection.class, connection, calls);
  }

  private static Object of(Class<?> type, Object target, Calls calls) {
    return Proxy.newProxyInstance(
        Intercepted.class.getClassLoader(),
        new Class<?>[] {type},
        (proxy, method, arguments) -> {
          try {
            Object result = calls.call(target, method, arguments);
            Class<?> returned = method.getReturnType();
            return INNER.contains(returned) ? of(returned, result, calls) : result;
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  /**
   * Sees each statement before the database does, and may change it or do something first.
   *
   * @param statement gets the text that is to be prepared or executed, and gives the one that is
   */
  public static DataSource rewriting(DataSource dataSource, UnaryOperator<String> statement) {
    return of(
        dataSource,
        (target, method, arguments) -> {
          if (arguments != null && arguments.length > 0 && arguments[0] instanceof String sql) {
            arguments[0] = statement.apply(sql);
          }
          return method.invoke(target, arguments);
        });
  }

  /** Without a pool, as far as anybody can see. */
  public static DataSource source(Open open) {
    return (DataSource)
        Proxy.newProxyInstance(
            Intercepted.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) ->
                method.getName().equals("isWrapperFor") ? (Object) false : open.connection());
  }
}
