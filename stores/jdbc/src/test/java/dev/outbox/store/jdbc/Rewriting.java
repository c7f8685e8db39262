package dev.outbox.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Set;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Sees each statement before the database does, and may change it or do something first. */
public final class Rewriting {
  private static final Set<Class<?>> REWRITTEN =
      Set.of(Connection.class, Statement.class, PreparedStatement.class);

  private Rewriting() {}

  /**
   * @param statement gets the text that is to be prepared or executed, and gives the one that is
   */
  public static DataSource of(DataSource dataSource, UnaryOperator<String> statement) {
    return of(DataSource.class, dataSource, statement);
  }

  private static <T> T of(Class<T> type, Object target, UnaryOperator<String> statement) {
    return type.cast(
        Proxy.newProxyInstance(
            Rewriting.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (arguments != null && arguments.length > 0 && arguments[0] instanceof String sql) {
                arguments[0] = statement.apply(sql);
              }
              Class<?> returned = method.getReturnType();
              try {
                Object result = method.invoke(target, arguments);
                return REWRITTEN.contains(returned) ? of(returned, result, statement) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
