package dev.outbox.store.jdbc;

import dev.outbox.spi.store.StoreProvider.Settings;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * For whoever needs one connection at a time, by any driver: it is kept from one use to the next. A
 * second one at once is a new one.
 */
final class DriverDataSource implements DataSource, AutoCloseable {

  /** A connection that was idle for longer is asked whether it is still there. */
  private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();

  private static final int PATIENCE_SECONDS = 5;

  private final Driver driver;
  private final String url;
  private final Properties properties = new Properties();
  private @Nullable Connection kept;
  private long keptAt;

  /** Connects to nothing yet. */
  DriverDataSource(Settings settings, Driver driver) {
    this.driver = driver;
    url = settings.url();
    if (!settings.user().isEmpty()) {
      properties.setProperty("user", settings.user());
    }
    if (!settings.password().isEmpty()) {
      properties.setProperty("password", settings.password());
    }
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection found = takeKept();
    Connection connection = found != null ? found : driver.connect(url, properties);
    if (connection == null) {
      throw new SQLException("the driver does not take this URL");
    }
    AtomicBoolean isClosed = new AtomicBoolean();
    return (Connection)
        Proxy.newProxyInstance(
            DriverDataSource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                if (!isClosed.getAndSet(true)) {
                  keep(connection);
                }
                return null;
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            });
  }

  private synchronized @Nullable Connection takeKept() throws SQLException {
    Connection connection = kept;
    kept = null;
    if (connection != null
        && System.nanoTime() - keptAt > FRESH_NANOS
        && !connection.isValid(PATIENCE_SECONDS)) {
      connection.close();
      return null;
    }
    return connection;
  }

  private synchronized void keep(Connection connection) throws SQLException {
    if (kept == null && !connection.isClosed()) {
      kept = connection;
      keptAt = System.nanoTime();
    } else if (kept != connection) {
      connection.close();
    }
  }

  @Override
  public synchronized void close() throws SQLException {
    if (kept != null) {
      kept.close();
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    throw new SQLFeatureNotSupportedException("one user only");
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
    throw new SQLFeatureNotSupportedException("no log");
  }

  @Override
  public int getLoginTimeout() {
    return 0;
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    throw new SQLFeatureNotSupportedException("no timeout but the driver's own");
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("no logger");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("this wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
