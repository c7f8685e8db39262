package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Tables of its own in the database that the tests run against, and a pool on it. A prefix keeps
 * them apart, because T-SQL lets no connection choose its schema.
 */
public final class Database extends TestDatabase {
  private final Consumer<HikariConfig> settings;

  /**
   * @param settings changes the pool's settings
   */
  public Database(DatabaseServer server, Consumer<HikariConfig> settings) {
    this(server, newName(), settings);
  }

  private Database(DatabaseServer server, String name, Consumer<HikariConfig> settings) {
    super(server, name, settings);
    this.settings = settings;
  }

  static String freshName() {
    return TestDatabase.newName();
  }

  String prefix() {
    return schema() + "_";
  }

  @Override
  public Database withOneConnection() {
    return new Database(
        server(), schema(), settings.andThen(config -> config.setMaximumPoolSize(1)));
  }

  @Override
  protected void drop() {
    empty();
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
            .map(table -> "drop table if exists " + prefix() + table)
            .toArray(String[]::new));
  }
}
