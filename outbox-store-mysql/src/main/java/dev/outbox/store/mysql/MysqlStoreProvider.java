package dev.outbox.store.mysql;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcStoreProvider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store of a URL of MySQL. */
public final class MysqlStoreProvider extends JdbcStoreProvider {

  public MysqlStoreProvider() {
    super("mysql", "MySQL", "jdbc:mysql://host:3306/name", "com.mysql.cj.jdbc.Driver");
  }

  @Override
  public OutboxStore<Connection> store(DataSource dataSource, Settings settings) {
    return with(settings, MysqlOutboxStore.builder(dataSource)).build();
  }

  @Override
  public JdbcInboxStore inbox(
      DataSource dataSource, @Nullable String schema, String prefix, Duration retention) {
    return MysqlInboxStore.builder(dataSource)
        .schema(schema)
        .prefix(prefix)
        .retention(retention)
        .build();
  }

  @Override
  public boolean isFor(Connection connection) throws SQLException {
    return super.isFor(connection) && !isMariadb(connection);
  }

  @Override
  protected boolean wantsPassword(SQLException e) {
    return "28000".equals(e.getSQLState());
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
