package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.store.jdbc.JdbcInboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestedStore;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Both stores, for tests that run on both servers. */
enum Tested implements TestedStore {
  MYSQL(Flavor.MYSQL, DatabaseServer::mysql),
  MARIADB(Flavor.MARIADB, DatabaseServer::mariadb);

  final Flavor flavor;
  private final Supplier<DatabaseServer> start;
  private @Nullable DatabaseServer server;

  Tested(Flavor flavor, Supplier<DatabaseServer> start) {
    this.flavor = flavor;
    this.start = start;
  }

  @Override
  public DatabaseServer start() {
    return start.get();
  }

  @Override
  public synchronized DatabaseServer shared() {
    if (server == null) {
      server = start();
    }
    return server;
  }

  @Override
  public Database database(DatabaseServer server, Consumer<HikariConfig> settings) {
    return new Database(server, settings);
  }

  @Override
  public String now() {
    return "utc_timestamp(6)";
  }

  @Override
  public String earlier(String column, long millis) {
    return "%s - interval %d microsecond".formatted(column, millis * 1_000);
  }

  @Override
  public JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return this == MYSQL
        ? MysqlOutboxStore.builder(dataSource)
        : MariadbOutboxStore.builder(dataSource);
  }

  @Override
  public JdbcInboxStore.Builder<?, ?> inbox(DataSource dataSource) {
    return this == MYSQL
        ? MysqlInboxStore.builder(dataSource)
        : MariadbInboxStore.builder(dataSource);
  }
}
