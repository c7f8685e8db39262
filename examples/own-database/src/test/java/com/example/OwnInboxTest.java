package com.example;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.postgres.PostgresInboxStore;
import dev.outbox.tck.inbox.JdbcInboxStoreTck;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

class OwnInboxTest extends JdbcInboxStoreTck {
  private final HikariDataSource pool = new HikariDataSource();

  OwnInboxTest() {
    pool.setJdbcUrl(System.getenv("DATABASE_URL"));
  }

  @Override
  protected DataSource dataSource() {
    return pool;
  }

  // tag::own-inbox
  @Override
  protected InboxStore<Connection> createStore(DataSource dataSource, Duration retention) {
    return PostgresInboxStore.builder(dataSource).prefix(prefix()).retention(retention).build();
  }
  // end::own-inbox
}
