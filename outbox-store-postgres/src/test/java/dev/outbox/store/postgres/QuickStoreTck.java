package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.TestDatabase;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The TCK for mutation tests, in which each of its tests runs by itself, some thousand times: on
 * one server, in a schema that is made without Liquibase. No build runs it otherwise.
 */
class QuickStoreTck extends PostgresStoreTck {

  @Override
  public DatabaseServer server() {
    DatabaseServer kept = Postgres.server();
    return new DatabaseServer() {
      @Override
      public String jdbcUrl() {
        return kept.jdbcUrl();
      }

      @Override
      public String user() {
        return kept.user();
      }

      @Override
      public String password() {
        return kept.password();
      }
    };
  }

  @Override
  public TestDatabase database(DatabaseServer server, Consumer<HikariConfig> settings) {
    Database database = new Database(server, settings);
    database.execute(PostgresOutboxStore.builder(database.pool).build().ddl());
    return database;
  }

  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(150);
  }

  @Override
  protected Duration patience() {
    return Duration.ofSeconds(5);
  }
}
