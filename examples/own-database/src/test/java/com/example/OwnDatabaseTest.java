// tag::own-database
package com.example;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.tck.store.JdbcOutboxStoreTck;
import java.sql.Connection;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

class OwnDatabaseTest extends JdbcOutboxStoreTck {
  @Override
  protected DataSource dataSource() {
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(System.getenv("DATABASE_URL"));
    return database;
  }

  @Override
  protected OutboxStore<Connection> createStore(DataSource dataSource) {
    return PostgresOutboxStore.builder(dataSource).prefix(prefix()).build();
  }
}
// end::own-database
