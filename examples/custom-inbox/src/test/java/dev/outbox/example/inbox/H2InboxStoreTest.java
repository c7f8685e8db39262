package dev.outbox.example.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.inbox.JdbcInboxStoreTck;
import java.sql.Connection;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeAll;

/** The TCK of inboxes over the example. */
class H2InboxStoreTest extends JdbcInboxStoreTck {
  private final JdbcDataSource dataSource = new JdbcDataSource();

  @BeforeAll
  void createTable() {
    // A lock is waited for as long as the suite waits, and not H2's two seconds.
    dataSource.setUrl(
        "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000".formatted(UUID.randomUUID()));
    new H2InboxStore(dataSource, InboxStore.DEFAULT_RETENTION).migrate();
  }

  @Override
  protected DataSource dataSource() {
    return dataSource;
  }

  @Override
  protected InboxStore<Connection> createStore(DataSource dataSource, Duration retention) {
    return new H2InboxStore(dataSource, retention);
  }

  @Override
  protected String prefix() {
    return "inbox_";
  }
}
