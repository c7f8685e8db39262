package dev.outbox.store.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A data source that tells which methods of its connections are about to be called. */
final class Watched {
  private Watched() {}

  static DataSource dataSource(DataSource target, Consumer<String> before) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = method.invoke(target, arguments);
          return result instanceof Connection c ? connection(c, before) : result;
        });
  }

  private static Connection connection(Connection target, Consumer<String> before) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          before.accept(method.getName());
          return method.invoke(target, arguments);
        });
  }

  private interface Call {
    Object call(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  private static <T> T proxy(Class<T> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader() == null ? Watched.class.getClassLoader() : type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return call.call(method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
