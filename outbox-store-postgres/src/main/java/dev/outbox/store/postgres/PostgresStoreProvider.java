package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.util.Map;

/** Opens the store of a URL of PostgreSQL. */
public final class PostgresStoreProvider extends JdbcStoreProvider {

  public PostgresStoreProvider() {
    super(
        "postgres",
        "PostgreSQL",
        "jdbc:postgresql://host:5432/name",
        "org.postgresql.Driver",
        "08004",
        PostgresOutboxStore::builder,
        PostgresInboxStore::builder);
  }

  /** In seconds: else this driver waits without end for a server that takes connections only. */
  @Override
  protected Map<String, String> poolSettings() {
    return Map.of("loginTimeout", "10");
  }
}
