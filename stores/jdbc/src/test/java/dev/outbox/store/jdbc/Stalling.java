package dev.outbox.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * A data source of which one client can be made to stop inside a transaction: it sends nothing any
 * more, as one that got SIGSTOP, or whose host is gone.
 */
public final class Stalling {
  private final DataSource target;
  private final ThreadLocal<Stop> stop = new ThreadLocal<>();

  public Stalling(DataSource target) {
    this.target = target;
  }

  public DataSource dataSource() {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object result = invoke(target, method, arguments);
              return result instanceof Connection connection ? watched(connection) : result;
            });
  }

  private Connection watched(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              Stop here = stop.get();
              if (here != null
                  && method.getName().equals("prepareStatement")
                  && ((String) arguments[0]).contains(here.at)) {
                here.now();
              }
              return invoke(connection, method, arguments);
            });
  }

  private static Object invoke(Object target, java.lang.reflect.Method method, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /**
   * Runs {@code work} in a thread of its own until it is about to run a statement that contains
   * {@code at}. Closing the result lets it go on, into whatever the server says by then.
   */
  public AutoCloseable stopAt(String at, Runnable work) {
    Stop here = new Stop(at);
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () -> {
              stop.set(here);
              work.run();
            },
            command -> new Thread(command, "stalled client").start());
    CompletableFuture.anyOf(here.reached, end).join();
    if (end.isDone()) {
      throw new IllegalStateException("the client came to no statement with " + at);
    }
    return () -> {
      here.goOn.countDown();
      end.handle((nothing, failure) -> null).get(1, TimeUnit.MINUTES);
    };
  }

  private static final class Stop {
    private final String at;
    private final CompletableFuture<Void> reached = new CompletableFuture<>();
    private final CountDownLatch goOn = new CountDownLatch(1);

    Stop(String at) {
      this.at = at;
    }

    void now() throws SQLException {
      reached.complete(null);
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new SQLException(e);
      }
    }
  }
}
