package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestedStore;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** PostgreSQL for the tests that all relational stores share. */
final class Postgres implements TestedStore {
  private static @Nullable DatabaseServer server;

  static synchronized DatabaseServer server() {
    if (server == null) {
      server = DatabaseServer.postgres();
    }
    return server;
  }

  @Override
  public DatabaseServer start() {
    return DatabaseServer.postgres();
  }

  @Override
  public DatabaseServer shared() {
    return server();
  }

  @Override
  public Database database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  public String now() {
    return "clock_timestamp()";
  }

  @Override
  public String earlier(String column, long millis) {
    return "%s - %d * interval '1 millisecond'".formatted(column, millis);
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return PostgresInboxStore.builder(dataSource);
  }
}
