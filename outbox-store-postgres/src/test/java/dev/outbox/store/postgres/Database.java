package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.DatabaseServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A schema of its own on the server that the tests run against, and a pool on it. */
public final class Database implements AutoCloseable {
  private static final Logger LIQUIBASE = Logger.getLogger("liquibase");

  static {
    LIQUIBASE.setLevel(Level.WARNING); // it says more than our tests need
  }

  private final DatabaseServer server;
  private final String schema;
  public final HikariDataSource pool;

  public Database(DatabaseServer server) {
    this(server, config -> {});
  }

  /**
   * @param settings changes the pool's settings
   */
  public Database(DatabaseServer server, Consumer<HikariConfig> settings) {
    this(server, newSchemaName(), settings);
    try (Connection connection =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = connection.createStatement()) {
      statement.execute("create schema " + schema);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private Database(DatabaseServer server, String schema, Consumer<HikariConfig> settings) {
    this.server = server;
    this.schema = schema;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMaximumPoolSize(24);
    config.setMinimumIdle(0);
    config.setInitializationFailTimeout(-1);
    config.addDataSourceProperty("currentSchema", schema);
    settings.accept(config);
    pool = new HikariDataSource(config);
  }

  /** The command line names the beginning, so that it can remove what an interrupted run left. */
  private static String newSchemaName() {
    return // "./outbox tck" chooses how the name begins, to find what an interrupted run left.
    System.getProperty("outbox.test.schema", "outbox_test")
        + "_"
        + UUID.randomUUID().toString().substring(0, 8);
  }

  public String schema() {
    return schema;
  }

  /** The same schema through a pool of one connection, which the caller closes. */
  Database withOneConnection() {
    return new Database(server, schema, config -> config.setMaximumPoolSize(1));
  }

  /** Makes the pool open new connections, because the server was restarted. */
  public void forgetConnections() {
    pool.getHikariPoolMXBean().softEvictConnections();
  }

  public DatabaseServer server() {
    return server;
  }

  public void execute(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(true);
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The first column of the first row as text. */
  public String query(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      String value = rows.next() ? rows.getString(1) : null;
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return value;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Commits when {@code work} returns, rolls back and rethrows when it throws. */
  public void inTransaction(boolean readOnly, Consumer<Connection> work) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      connection.setReadOnly(readOnly);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try (Statement statement = connection.createStatement()) {
        // The tests' own transactions are durable, whatever a variant's sessions begin with.
        statement.execute("set local synchronous_commit = on");
        work.accept(connection);
        connection.commit();
      } catch (Throwable e) {
        connection.rollback();
        throw e;
      } finally {
        connection.setReadOnly(false);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    execute("drop schema " + schema + " cascade");
    pool.close();
  }
}
