package dev.outbox.example.inbox;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.InboxStoreProperties;
import dev.outbox.tck.InboxStoreTck;
import dev.outbox.tck.Retentions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;
import org.h2.jdbcx.JdbcDataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** The TCK of inboxes over the example. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class H2InboxStoreTest extends InboxStoreTck<Connection>
    implements Retentions<Connection>, AutoCommit<Connection> {
  private final JdbcDataSource dataSource = new JdbcDataSource();

  @BeforeAll
  void createTable() {
    // A lock is waited for as long as the suite waits, and not H2's two seconds.
    dataSource.setUrl(
        "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000".formatted(UUID.randomUUID()));
    new H2InboxStore(dataSource, InboxStore.DEFAULT_RETENTION).migrate();
  }

  @Override
  protected InboxStore<Connection> createStore() {
    return createStore(InboxStore.DEFAULT_RETENTION);
  }

  @Override
  public InboxStore<Connection> createStore(Duration retention) {
    return new H2InboxStore(dataSource, retention);
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    Jdbi.create(dataSource).useTransaction(handle -> work.accept(handle.getConnection()));
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = dataSource.getConnection()) {
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void reset() {
    Jdbi.create(dataSource).useHandle(handle -> handle.execute("delete from inbox_message"));
  }

  @Nested
  class Properties extends InboxStoreProperties<Connection> {
    Properties() {
      super(H2InboxStoreTest.this);
    }
  }
}
