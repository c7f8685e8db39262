package dev.outbox.tck.internal;

import dev.outbox.OutboxException;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Data sources whose connections fail when they are asked to, for the fixtures {@link LosesReplies}
 * and {@link BreaksConnections} of stores on JDBC. Make the store with {@link #of}.
 */
public final class FaultyConnections {
  private static final Pattern WRITE =
      Pattern.compile(
          "\\s*(with|insert|update|delete|merge|replace|call)\\b.*",
          Pattern.DOTALL | Pattern.CASE_INSENSITIVE);

  private final AtomicBoolean loseReply = new AtomicBoolean();

  /** So many writes from now one connection breaks; 0 or less: none does. */
  private final AtomicInteger writesLeft = new AtomicInteger();

  /** The same data source, with connections that fail when asked to. */
  public DataSource of(DataSource target) {
    return (DataSource)
        proxy(
            DataSource.class,
            (proxy, method, arguments) -> {
              Object result = Patient.call(target, method, arguments);
              return result instanceof Connection connection ? faulty(connection) : result;
            });
  }

  /** As {@link LosesReplies#losingTheReply}. */
  public void losingTheReply(Runnable work) {
    loseReply.set(true);
    try {
      work.run();
    } catch (OutboxException e) {
      return;
    } finally {
      loseReply.set(false);
    }
    throw new IllegalStateException("no commit lost its reply");
  }

  /** As {@link BreaksConnections#breakingAtWrite}. */
  public boolean breakingAtWrite(int write, Runnable work) {
    boolean broke;
    writesLeft.set(write);
    try {
      work.run();
    } catch (RuntimeException e) {
      if (writesLeft.get() > 0) {
        throw e;
      }
    } finally {
      broke = writesLeft.getAndSet(0) <= 0; // none breaks in a test that comes later
    }
    return broke;
  }

  private Connection faulty(Connection target) {
    return (Connection)
        proxy(
            Connection.class,
            (proxy, method, arguments) -> {
              Object result = Patient.call(target, method, arguments);
              if (method.getName().equals("commit") && loseReply.compareAndSet(true, false)) {
                throw broken("the connection broke before the reply");
              }
              return result instanceof Statement statement
                  ? faulty(target, statement, method.getReturnType(), arguments)
                  : result;
            });
  }

  /** With the SQL that it was prepared with, if it was. */
  private Object faulty(
      Connection connection, Statement target, Class<?> type, Object @Nullable [] prepared) {
    return proxy(
        type,
        (proxy, method, arguments) -> {
          if (method.getName().startsWith("execute")) {
            Object @Nullable [] texts = arguments == null ? prepared : arguments;
            if (texts != null
                && texts.length > 0
                && texts[0] instanceof String sql
                && WRITE.matcher(sql).matches()
                && writesLeft.getAndUpdate(left -> left > 0 ? left - 1 : left) == 1) {
              connection.abort(Runnable::run);
              throw broken("the connection broke");
            }
          }
          return Patient.call(target, method, arguments);
        });
  }

  private static SQLException broken(String message) {
    return new SQLException(message, "08006");
  }

  private static Object proxy(Class<?> type, InvocationHandler handler) {
    return Proxy.newProxyInstance(
        FaultyConnections.class.getClassLoader(), new Class<?>[] {type}, handler);
  }
}
