package dev.outbox.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/** A data source whose server once commits without its client hearing of it. */
public final class LostReplies {
  private final AtomicBoolean lose = new AtomicBoolean();

  /** The reply to the next commit is lost. */
  public void loseNext() {
    lose.set(true);
  }

  public DataSource of(DataSource target) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connection(target.getConnection()));
  }

  private Connection connection(Connection target) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              try {
                Object result = method.invoke(target, arguments);
                if (method.getName().equals("commit") && lose.compareAndSet(true, false)) {
                  throw new SQLException("the connection broke before the reply", "08006");
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
