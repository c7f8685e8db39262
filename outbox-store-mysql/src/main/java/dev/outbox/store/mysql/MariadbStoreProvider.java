package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of MariaDB. */
public final class MariadbStoreProvider extends JdbcStoreProvider {

  public MariadbStoreProvider() {
    super(
        "mariadb",
        "MariaDB",
        "jdbc:mariadb://host:3306/name",
        "org.mariadb.jdbc.Driver",
        "28000",
        MariadbOutboxStore::builder,
        MariadbInboxStore::builder);
  }

  @Override
  public boolean isFor(Connection connection) throws SQLException {
    return MysqlStoreProvider.isMariadb(connection);
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
