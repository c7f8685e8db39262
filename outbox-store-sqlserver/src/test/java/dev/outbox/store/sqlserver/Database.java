package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A schema of its own in the database that the tests run against, and a pool on that. */
public final class Database extends TestDatabase {
  private final Consumer<HikariConfig> settings;

  /**
   * @param settings changes the pool's settings
   */
  public Database(DatabaseServer server, Consumer<HikariConfig> settings) {
    this(server, newName(), settings);
    execute("create schema " + schema());
  }

  private Database(DatabaseServer server, String schema, Consumer<HikariConfig> settings) {
    super(server, schema, settings);
    this.settings = settings;
  }

  static String freshName() {
    return newName();
  }

  @Override
  public Database withOneConnection() {
    return new Database(
        server(), schema(), settings.andThen(config -> config.setMaximumPoolSize(1)));
  }

  @Override
  protected void drop() {
    empty();
    execute("drop schema " + schema());
  }

  @Override
  public void empty() {
    execute(
        Stream.of(
                "message",
                "blocked_key",
                "bucket",
                "dedup",
                "schema",
                "databasechangelog",
                "databasechangeloglock")
            .map(table -> "drop table if exists %s.outbox_%s".formatted(schema(), table))
            .toArray(String[]::new));
  }
}
