package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.function.Consumer;

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

  /** Whatever the prefix of its tables is. */
  @Override
  public void empty() {
    execute(
        """
        declare @drops nvarchar(max) = (
          select coalesce(string_agg(convert(nvarchar(max),
            N'drop table ' + quotename(schema_name(schema_id)) + N'.' + quotename(name)), N';'), N'')
          from sys.tables where schema_id = schema_id(N'%s'));
        exec sp_executesql @drops
        """
            .formatted(schema()));
  }
}
