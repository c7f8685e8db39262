package dev.outbox.store.mysql;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of MariaDB. */
public final class MariadbStoreProvider extends JdbcStoreProvider {

  public MariadbStoreProvider() {
    super("mariadb", "MariaDB", "jdbc:mariadb://host:3306/name", "org.mariadb.jdbc.Driver");
  }

  @Override
  public OutboxStore<Connection> store(DataSource dataSource, Settings settings) {
    return with(settings, MariadbOutboxStore.builder(dataSource)).build();
  }

  @Override
  public JdbcInboxStore inbox(
      DataSource dataSource, @Nullable String schema, String prefix, Duration retention) {
    return MariadbInboxStore.builder(dataSource)
        .schema(schema)
        .prefix(prefix)
        .retention(retention)
        .build();
  }

  @Override
  public boolean isFor(Connection connection) throws SQLException {
    return MysqlStoreProvider.isMariadb(connection);
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "28000".equals(e.getSQLState());
  }

  @Override
  protected @Nullable String problem(Connection connection) throws SQLException {
    return MysqlStoreProvider.isMariadb(connection)
        ? null
        : "the server is not MariaDB: begin its URL with jdbc:mysql:";
  }

  /** MySQL's own way to log in is not known to this driver. */
  @Override
  protected String reason(SQLException e) {
    return String.valueOf(e.getMessage()).contains("caching_sha2_password")
        ? "the server seems to be MySQL: begin its URL with jdbc:mysql: (" + e.getMessage() + ")"
        : super.reason(e);
  }
}
