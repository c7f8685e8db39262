package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/** A schema of its own on the PostgreSQL that the tests run against, and a pool on it. */
public final class Database extends TestDatabase {

  public Database(DatabaseServer server) {
    this(server, config -> {});
  }

  /**
   * @param settings changes the pool's settings
   */
  public Database(DatabaseServer server, Consumer<HikariConfig> settings) {
    this(server, newName(), settings);
    administer(server, "create schema " + schema());
  }

  private Database(DatabaseServer server, String schema, Consumer<HikariConfig> settings) {
    super(
        server,
        schema,
        config -> {
          config.addDataSourceProperty("currentSchema", schema);
          settings.accept(config);
        });
  }

  @Override
  public Database withOneConnection() {
    return new Database(server(), schema(), config -> config.setMaximumPoolSize(1));
  }

  @Override
  protected void drop() {
    execute("drop schema " + schema() + " cascade");
  }

  @Override
  public void empty() {
    drop();
    execute("create schema " + schema());
  }

  @Override
  protected void makeDurable(Statement statement) throws SQLException {
    statement.execute("set local synchronous_commit = on");
  }
}
