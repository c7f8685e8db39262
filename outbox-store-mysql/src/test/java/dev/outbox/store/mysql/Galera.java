package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestedStore;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The MariaDB store on the first node of a cluster, one for all tests of this JVM. */
final class Galera implements TestedStore {
  private static @Nullable List<DatabaseServer> nodes;

  private final DatabaseServer first = nodes().get(0);

  static synchronized List<DatabaseServer> nodes() {
    if (nodes == null) {
      nodes = DatabaseServer.galera();
    }
    return nodes;
  }

  @Override
  public DatabaseServer start() {
    return first;
  }

  @Override
  public DatabaseServer shared() {
    return first;
  }

  @Override
  public Database database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  public String now() {
    return Tested.MARIADB.now();
  }

  @Override
  public String earlier(String column, long millis) {
    return Tested.MARIADB.earlier(column, millis);
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return Tested.MARIADB.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return Tested.MARIADB.inbox(dataSource);
  }
}
