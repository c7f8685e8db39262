package dev.outbox.example.store;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.store.JdbcOutboxStoreTck;
import java.sql.Connection;
import java.util.UUID;
import javax.sql.DataSource;
import org.hsqldb.jdbc.JDBCDataSource;
import org.junit.jupiter.api.BeforeAll;

/** What the suite needs to know of a store. */
class HsqldbCoreTest extends JdbcOutboxStoreTck {
  final JDBCDataSource dataSource = new JDBCDataSource();

  @BeforeAll
  void createTables() {
    dataSource.setUrl("jdbc:hsqldb:mem:" + UUID.randomUUID());
    dataSource.setUser("sa");
    new HsqldbOutboxStore(dataSource).migrate();
  }

  @Override
  protected DataSource dataSource() {
    return dataSource;
  }

  @Override
  protected OutboxStore<Connection> createStore(DataSource dataSource) {
    return new HsqldbOutboxStore(dataSource);
  }

  @Override
  protected void reset() {
    execute("delete from outbox_message", "delete from outbox_dedup");
  }
}
