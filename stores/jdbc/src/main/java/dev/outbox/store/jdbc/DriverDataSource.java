package dev.outbox.store.jdbc;

import dev.outbox.OutboxException;
import dev.outbox.spi.StoreProvider.Settings;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A new connection each time, by any driver. */
final class DriverDataSource implements DataSource {
  private final Driver driver;
  private final String url;
  private final Properties properties = new Properties();

  /**
   * Connects to nothing yet.
   *
   * @throws OutboxException when no driver takes the URL
   */
  DriverDataSource(Settings settings, JdbcStoreProvider provider) {
    url = settings.url();
    driver = driver(provider, url);
    if (!settings.user().isEmpty()) {
      properties.setProperty("user", settings.user());
    }
    if (!settings.password().isEmpty()) {
      properties.setProperty("password", settings.password());
    }
  }

  private static Driver driver(JdbcStoreProvider provider, String url) {
    try {
      return DriverManager.getDriver(url);
    } catch (SQLException e) {
      boolean isThere =
          DriverManager.drivers().anyMatch(d -> d.getClass().getName().equals(provider.driver()));
      throw provider.noDriver(url, isThere, e);
    }
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = driver.connect(url, properties);
    if (connection == null) {
      throw new SQLException("the driver does not take this URL");
    }
    return connection;
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
