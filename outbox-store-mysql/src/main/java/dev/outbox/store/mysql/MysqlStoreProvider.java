package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of MySQL. */
public final class MysqlStoreProvider extends JdbcStoreProvider {

  public MysqlStoreProvider() {
    super(
        "mysql",
        "MySQL",
        "jdbc:mysql://host:3306/name",
        "com.mysql.cj.jdbc.Driver",
        "28000",
        MysqlOutboxStore::builder,
        MysqlInboxStore::builder);
  }

  @Override
  public boolean isFor(Connection connection) throws SQLException {
    return super.isFor(connection) && !isMariadb(connection);
  }

  @Override
  protected @Nullable String problem(Connection connection) throws SQLException {
    return isMariadb(connection)
        ? "the server is not MySQL: begin its URL with jdbc:mariadb:"
        : null;
  }

  /** The driver of each connects to the other. */
  static boolean isMariadb(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseProductVersion().contains("MariaDB");
  }
}
