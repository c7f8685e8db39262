package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.store.core.internal.Unreachable;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store of a relational database, with a pool of HikariCP. */
public abstract class JdbcStoreProvider implements StoreProvider {
  private final String name;
  private final String label;
  private final String exampleUrl;
  private final String driver;
  private final String passwordMissing;
  private final Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores;
  private final Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes;

  /**
   * @param label for people
   * @param exampleUrl begins with {@code jdbc:} and the driver's own name
   * @param driver the class of a driver that takes these URLs
   * @param passwordMissing the SQLSTATE when a connection is refused that came without a password
   */
  protected JdbcStoreProvider(
      String name,
      String label,
      String exampleUrl,
      String driver,
      String passwordMissing,
      Function<DataSource, JdbcOutboxStore.Builder<?, ?>> stores,
      Function<DataSource, JdbcInboxStore.Builder<?, ?>> inboxes) {
    this.name = name;
    this.label = label;
    this.exampleUrl = exampleUrl;
    this.driver = driver;
    this.passwordMissing = passwordMissing;
    this.stores = stores;
    this.inboxes = inboxes;
  }

  /**
   * Makes the store on a data source that somebody else opened, and closes. Does not connect yet.
   *
   * @param settings of which schema, prefix, dedup window and history count here
   * @throws IllegalArgumentException naming the setting, its value and what is allowed
   */
  public final JdbcOutboxStore store(DataSource dataSource, Settings settings) {
    JdbcOutboxStore.Builder<?, ?> builder = stores.apply(dataSource);
    builder.schema(settings.schema()).prefix(settings.prefix());
    if (settings.dedupWindow() != null) {
      builder.dedupWindow(settings.dedupWindow());
    }
    return builder.history(settings.history()).build();
  }

  /**
   * Makes the inbox on such a data source. Does not connect yet.
   *
   * @param schema of its tables; null: the connection's current one
   * @param prefix before the name of each of its tables
   * @param retention how long a key is remembered after it was done
   * @throws IllegalArgumentException naming the setting, its value and what is allowed
   */
  public final JdbcInboxStore inbox(
      DataSource dataSource, @Nullable String schema, String prefix, Duration retention) {
    return inboxes.apply(dataSource).schema(schema).prefix(prefix).retention(retention).build();
  }

  /** Whether the server behind a connection is one of those that this store is for. */
  public boolean isFor(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseProductName().endsWith(label);
  }

  /**
   * What the driver is told about the connections of a pool that is made here, by the names of its
   * settings. Those that the URL names are left to it.
   */
  protected Map<String, String> poolSettings() {
    return Map.of();
  }

  /** What is wrong when a server of another kind answers; or null. */
  protected @Nullable String problem(Connection connection) throws SQLException {
    return null;
  }

  /** Why there is no connection. */
  protected String reason(SQLException e) {
    return Unreachable.reason(e).orElseGet(() -> String.valueOf(e.getMessage()));
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String exampleUrl() {
    return exampleUrl;
  }

  @Override
  public final List<String> urlPrefixes() {
    return List.of(exampleUrl.substring(0, exampleUrl.indexOf(':', "jdbc:".length()) + 1));
  }

  @Override
  public final Opened open(Settings settings) {
    checkDriver(settings.url());
    try {
      return OpenedByJdbc.of(this, settings);
    } catch (NoClassDefFoundError e) {
      if (!String.valueOf(e.getMessage()).contains("hikari")) {
        throw e;
      }
      throw new PermanentOutboxException(
          "HikariCP is not on the class path: add com.zaxxer:HikariCP", e);
    }
  }

  private void checkDriver(String url) {
    try {
      Driver ignored = DriverManager.getDriver(url);
    } catch (SQLException e) {
      boolean isThere =
          DriverManager.drivers().anyMatch(d -> d.getClass().getName().equals(driver));
      throw new PermanentOutboxException(
          isThere
              ? "the URL %s cannot be read: it looks like %s".formatted(url, exampleUrl)
              : "there is no driver for %s: put the jar with %s on the class path"
                  .formatted(label, driver),
          e);
    }
  }

  /** Loaded when it is used: where somebody else opens data sources, HikariCP need not be there. */
  private record OpenedByJdbc(
      JdbcStoreProvider provider,
      Settings settings,
      HikariDataSource pool,
      OutboxStore<Connection> store)
      implements Opened {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    static Opened of(JdbcStoreProvider provider, Settings settings) {
      HikariDataSource pool = pool(settings, provider.poolSettings());
      try {
        return new OpenedByJdbc(provider, settings, pool, provider.store(pool, settings));
      } catch (RuntimeException | Error e) { // as when Jdbi is not there
        pool.close();
        throw e;
      }
    }

    private static HikariDataSource pool(Settings settings, Map<String, String> ofDriver) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(settings.url());
      config.setUsername(settings.user().isEmpty() ? null : settings.user());
      config.setPassword(settings.password().isEmpty() ? null : settings.password());
      config.setMaximumPoolSize(Math.max(2, settings.connections()));
      config.setMinimumIdle(settings.connections());
      config.setConnectionTimeout(PATIENCE.toMillis());
      // Else the pool asks for the default, once; when that connection dies it never works again.
      config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
      String url = settings.url().toLowerCase(Locale.ROOT);
      ofDriver.forEach(
          (name, value) -> {
            if (!url.contains(name.toLowerCase(Locale.ROOT))) {
              config.addDataSourceProperty(name, value);
            }
          });
      if (settings.connections() > 1) {
        config.setInitializationFailTimeout(-1); // connects in a thread of its own
        return new HikariDataSource(config);
      }
      // Whoever asks first connects, and is told after one try why that is not possible; several
      // would wait for each other.
      HikariDataSource one = new HikariDataSource();
      config.copyStateTo(one);
      return one;
    }

    @Override
    public Optional<InboxStore<?>> inbox(String prefix) {
      return Optional.of(
          provider.inbox(pool, settings.schema(), prefix, InboxStore.DEFAULT_RETENTION));
    }

    @Override
    public void check() {
      try (Connection connection = connect()) {
        String problem = provider.problem(connection);
        if (problem != null) {
          throw new PermanentOutboxException(problem);
        }
        String schema = settings.schema();
        if (schema != null && !hasSchema(connection, schema)) {
          throw new PermanentOutboxException(
              "there is no schema %s that this user may use: make it with \"create schema %s\", or give this user what outbox grants prints"
                  .formatted(schema, schema));
        }
      } catch (SQLException e) {
        throw new PermanentOutboxException("the schemas cannot be read: " + e.getMessage(), e);
      }
    }

    private Connection connect() {
      try {
        return pool.getConnection();
      } catch (SQLException e) {
        String sentence = "cannot connect to %s: %s".formatted(settings.url(), provider.reason(e));
        throw settings.password().isEmpty() && provider.passwordMissing.equals(e.getSQLState())
            ? new PasswordMissingException(sentence, e)
            : new PermanentOutboxException(sentence, e);
      }
    }

    private boolean hasSchema(Connection connection, String schema) throws SQLException {
      // In capitals, or SQL Server does not find it in a database whose collation minds case.
      String sql = "select SCHEMA_NAME from INFORMATION_SCHEMA.SCHEMATA where SCHEMA_NAME = ?";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        statement.setString(1, schema);
        try (ResultSet rows = statement.executeQuery()) {
          return rows.next() && schema.equals(rows.getString(1)); // some ignore case
        }
      }
    }

    @Override
    public void close() {
      pool.close();
    }
  }
}
