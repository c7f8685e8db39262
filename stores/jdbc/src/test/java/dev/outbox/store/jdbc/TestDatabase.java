package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A schema (or what the database calls so) of its own on the server that the tests run against, and
 * a pool on it.
 */
public abstract class TestDatabase implements AutoCloseable {
  private static final Logger LIQUIBASE = Logger.getLogger("liquibase");

  static {
    LIQUIBASE.setLevel(Level.WARNING); // it says more than our tests need
  }

  private final DatabaseServer server;
  private final String schema;
  public final HikariDataSource pool;

  /**
   * @param schema is there already
   * @param settings changes the pool's settings
   */
  protected TestDatabase(DatabaseServer server, String schema, Consumer<HikariConfig> settings) {
    this.server = server;
    this.schema = schema;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMaximumPoolSize(24);
    config.setMinimumIdle(0);
    config.setInitializationFailTimeout(-1);
    settings.accept(config);
    pool = new HikariDataSource(config);
  }

  /**
   * A new one for each call. {@code ./outbox tck} chooses how it begins, to find what an
   * interrupted run left.
   */
  protected static String newName() {
    return System.getProperty("outbox.test.schema", "outbox_test")
        + "_"
        + UUID.randomUUID().toString().substring(0, 8);
  }

  /** Runs statements outside the pool. */
  protected static void administer(DatabaseServer server, String... statements) {
    try (Connection connection =
        DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password())) {
      execute(connection, statements);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The same schema through a pool of one connection, which the caller closes. */
  public abstract TestDatabase withOneConnection();

  /** Drops the schema with all that is in it. */
  protected abstract void drop();

  /** Drops everything in the schema. */
  public abstract void empty();

  /** Makes the transaction that has begun durable, whatever a variant's sessions begin with. */
  protected void makeDurable(Statement statement) throws SQLException {}

  public final String schema() {
    return schema;
  }

  public final DatabaseServer server() {
    return server;
  }

  /** Makes the pool open new connections, because the server was restarted. */
  public final void forgetConnections() {
    pool.getHikariPoolMXBean().softEvictConnections();
  }

  /** Runs a script, as a person does. */
  public void run(String script) {
    execute(script);
  }

  public final void execute(String... statements) {
    Jdbc.execute(pool, statements);
  }

  /** Runs statements in a session that the caller has. */
  public static void execute(Connection session, String... statements) {
    try (Statement statement = session.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs the work with a connection in auto-commit. */
  public final void withoutTransaction(Consumer<Connection> work) {
    Jdbc.withoutTransaction(pool, work);
  }

  /** The first column of the first row as text. */
  public final String query(String sql) {
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
  public final void inTransaction(boolean readOnly, Consumer<Connection> work) {
    Jdbc.inTransaction(
        pool,
        connection -> {
          try (Statement statement = connection.createStatement()) {
            connection.setReadOnly(readOnly); // the pool sets it back
            makeDurable(statement);
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
          work.accept(connection);
        });
  }

  @Override
  public final void close() {
    drop();
    pool.close();
  }
}
