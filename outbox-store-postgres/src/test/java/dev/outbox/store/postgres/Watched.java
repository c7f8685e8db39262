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

  /** Chooses the connection that a call goes to. */
  interface Route {
    Connection of(Connection target, String method, Object... arguments);
  }

  static DataSource dataSource(DataSource target, Consumer<String> before) {
    return routed(
        target,
        (connection, method, arguments) -> {
          before.accept(method);
          return connection;
        });
  }

  static DataSource routed(DataSource target, Route route) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = method.invoke(target, arguments);
          return result instanceof Connection c ? connection(c, route) : result;
        });
  }

  private static Connection connection(Connection target, Route route) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          Object[] all = arguments == null ? new Object[0] : arguments;
          return method.invoke(route.of(target, method.getName(), all), arguments);
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
