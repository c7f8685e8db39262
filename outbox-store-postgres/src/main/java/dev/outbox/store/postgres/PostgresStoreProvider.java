package dev.outbox.store.postgres;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of PostgreSQL. */
public final class PostgresStoreProvider extends JdbcStoreProvider {

  public PostgresStoreProvider() {
    super("postgres", "PostgreSQL", "jdbc:postgresql://host:5432/name", "org.postgresql.Driver");
  }

  @Override
  public OutboxStore<Connection> store(DataSource dataSource, Settings settings) {
    return with(settings, PostgresOutboxStore.builder(dataSource)).build();
  }

  @Override
  public JdbcInboxStore inbox(
      DataSource dataSource, @Nullable String schema, String prefix, Duration retention) {
    return PostgresInboxStore.builder(dataSource)
        .schema(schema)
        .prefix(prefix)
        .retention(retention)
        .build();
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "08004".equals(e.getSQLState());
  }
}
