package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.SQLException;

/** Opens the store of a URL of PostgreSQL. */
public final class PostgresStoreProvider extends JdbcStoreProvider {

  public PostgresStoreProvider() {
    super(
        "postgres",
        "PostgreSQL",
        "jdbc:postgresql://host:5432/name",
        "org.postgresql.Driver",
        PostgresOutboxStore::builder,
        PostgresInboxStore::builder);
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "08004".equals(e.getSQLState());
  }
}
