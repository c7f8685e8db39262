package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcStoreProvider;

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
}
