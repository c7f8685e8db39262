package dev.outbox.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.benchmarks.JdbcKind;
import dev.outbox.cli.demo.JdbcOrderService;
import dev.outbox.cli.demo.OrderService;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** A relational database. */
final class DatabaseByJdbc implements Database {
  private final JdbcKind kind;
  private final Address address;
  private final DataSource dataSource;

  private DatabaseByJdbc(JdbcKind kind, Address address, DataSource dataSource) {
    this.kind = kind;
    this.address = address;
    this.dataSource = dataSource;
  }

  /** One with a new connection each time. */
  static DatabaseByJdbc at(JdbcKind kind, Address address) {
    return new DatabaseByJdbc(kind, address, new DriverDataSource(kind, address));
  }

  @Override
  public DatabaseByJdbc pool(int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(address.url());
    config.setUsername(address.user().isEmpty() ? null : address.user());
    config.setPassword(address.password().isEmpty() ? null : address.password());
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
    // Else the pool asks for the default, once; when that connection dies it never works again.
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    return new DatabaseByJdbc(kind, address, new HikariDataSource(config));
  }

  @Override
  public void check() {
    String problem;
    try (Connection connection = dataSource.getConnection()) {
      problem = kind.problem(connection);
    } catch (SQLException e) {
      String sentence = "cannot connect to %s: %s".formatted(address, reason(e));
      throw address.password().isEmpty() && kind.wantsPassword(e)
          ? new Failure.NoPassword(sentence + "; " + DatabaseOptions.GIVE_PASSWORD, e)
          : new Failure(sentence, e);
    }
    if (problem != null) {
      throw new Failure(problem);
    }
  }

  /** Drivers wrap what the network said in sentences that do not. */
  private String reason(SQLException e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof UnknownHostException) {
        return "unknown host " + t.getMessage();
      }
      if (t instanceof ConnectException) {
        return t.getMessage() + "; is the server running there?";
      }
    }
    boolean mysqlsPlugin = String.valueOf(e.getMessage()).contains("caching_sha2_password");
    return mysqlsPlugin && address.url().startsWith("jdbc:mariadb:")
        ? "the server seems to be MySQL: begin its URL with jdbc:mysql: (" + e.getMessage() + ")"
        : String.valueOf(e.getMessage());
  }

  @Override
  public String server() {
    try (Connection connection = dataSource.getConnection()) {
      DatabaseMetaData about = connection.getMetaData();
      return "%s %s, by %s %s"
          .formatted(
              kind.name(),
              about.getDatabaseProductVersion(),
              about.getDriverName(),
              about.getDriverVersion());
    } catch (SQLException e) {
      throw new Failure("the server's version cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public JdbcOutboxStore store(Duration dedupWindow) {
    try {
      return kind.store(dataSource)
          .schema(address.schema())
          .prefix(address.prefix())
          .dedupWindow(dedupWindow)
          .build();
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public OrderService orderService() {
    return new JdbcOrderService(
        dataSource, store(JdbcOutboxStore.DEFAULT_DEDUP_WINDOW), qualified("demo_order"));
  }

  private String qualified(String table) {
    return address.schema() == null ? table : address.schema() + "." + table;
  }

  @Override
  public int schemaVersion() {
    String sql = "select version from " + qualified(address.prefix() + "schema");
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getInt(1) : 0;
    } catch (SQLException e) {
      throw new Failure("the version of the schema cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public String grants(String producer, String relay) {
    try {
      return store(JdbcOutboxStore.DEFAULT_DEDUP_WINDOW).grants(producer, relay);
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public void checkSchema() {
    String schema = address.schema();
    if (schema == null) {
      return;
    }
    try (Connection connection = dataSource.getConnection()) {
      if (!kind.hasSchema(connection, schema)) {
        throw new Failure(
            "there is no schema %s that this user may use: make it with \"create schema %s\", or give this user what ./outbox grants prints"
                .formatted(schema, schema));
      }
    } catch (SQLException e) {
      throw new Failure("the schemas cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public void createSchema(String name) {
    try (Connection connection = dataSource.getConnection()) {
      kind.createSchema(connection, name);
    } catch (SQLException e) {
      throw new Failure(
          "no schema can be made in this database: %s; let this user create schemas (on MySQL and MariaDB: databases)"
              .formatted(e.getMessage()),
          e);
    }
  }

  @Override
  public List<String> schemas(String begin) {
    try (Connection connection = dataSource.getConnection()) {
      return JdbcKind.schemas(connection, begin);
    } catch (SQLException e) {
      throw new Failure("the schemas cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public void removeSchemas(String begin) {
    try (Connection connection = dataSource.getConnection()) {
      kind.removeSchemas(connection, begin);
    } catch (SQLException e) {
      throw new Failure(
          "the schemas %s* could not be removed: %s".formatted(begin, e.getMessage()), e);
    }
  }

  @Override
  public Address in(String schema) {
    return new Address(address.url(), address.user(), address.password(), schema, address.prefix());
  }

  @Override
  public Address named(String name) {
    return new Address(
        kind.named(address.url(), name),
        address.user(),
        address.password(),
        address.schema(),
        address.prefix());
  }

  @Override
  public void close() {
    if (dataSource instanceof HikariDataSource pool) {
      pool.close();
    }
  }
}
