// tag::own-database
package com.example;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.tck.store.JdbcOutboxStoreTck;
import java.sql.Connection;
import javax.sql.DataSource;

class OwnDatabaseTest extends JdbcOutboxStoreTck {
  private final HikariDataSource pool = new HikariDataSource();

  OwnDatabaseTest() {
    pool.setJdbcUrl(System.getenv("DATABASE_URL"));
  }

  @Override
  protected DataSource dataSource() {
    return pool;
  }

  @Override
  protected OutboxStore<Connection> createStore(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource).prefix(prefix()).build();
  }
}
// end::own-database
