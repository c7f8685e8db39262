package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.Arrays;
import java.util.function.Consumer;

/** A database of its own on the MySQL or MariaDB that the tests run against, and a pool on it. */
public final class Database extends TestDatabase {

  public Database(DatabaseServer server) {
    this(server, config -> {});
  }

  /**
   * @param settings changes the pool's settings
   */
  public Database(DatabaseServer server, Consumer<HikariConfig> settings) {
    this(server, newName(), settings);
    administer(server, "create database " + schema());
  }

  private Database(DatabaseServer server, String schema, Consumer<HikariConfig> settings) {
    super(
        server,
        schema,
        config -> {
          config.setCatalog(schema);
          settings.accept(config);
        });
  }

  @Override
  public Database withOneConnection() {
    return new Database(server(), schema(), config -> config.setMaximumPoolSize(1));
  }

  /** Of both servers. */
  static void byMysqlsDriver(HikariConfig config) {
    config.setJdbcUrl(config.getJdbcUrl().replaceFirst("^jdbc:mariadb:", "jdbc:mysql:"));
  }

  /** The same database on another server of a cluster; the caller closes its pool. */
  Database on(DatabaseServer other) {
    return new Database(other, schema(), config -> {});
  }

  @Override
  public void run(String script) {
    execute(statements(script));
  }

  static String[] statements(String script) {
    return Arrays.stream(script.split(";\n")).filter(s -> !s.isBlank()).toArray(String[]::new);
  }

  @Override
  protected void drop() {
    administer(server(), "drop database " + schema());
  }

  @Override
  public void empty() {
    administer(server(), "drop database " + schema(), "create database " + schema());
    forgetConnections(); // they are in the database that is gone
  }
}
