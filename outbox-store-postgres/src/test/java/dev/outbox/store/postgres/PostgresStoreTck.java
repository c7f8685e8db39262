package dev.outbox.store.postgres;

import dev.outbox.embedded.PostgresServer;
import dev.outbox.spi.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.OutboxStoreTck;
import dev.outbox.tck.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The TCK on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class PostgresStoreTck extends OutboxStoreTck<Connection>
    implements AutoCommit<Connection>, ReadOnlyTransactions<Connection> {
  private PostgresServer server;
  private Database database;

  @BeforeAll
  void start() {
    server = PostgresServer.forTests();
    database = new Database(server);
    PostgresOutboxStore.of(database.pool).migrate();
  }

  @AfterAll
  void stop() throws Exception {
    if (database != null) {
      database.close();
    }
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected OutboxStore<Connection> createStore() {
    return PostgresOutboxStore.of(database.pool);
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database.inTransaction(false, work);
  }

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    database.inTransaction(true, work);
  }

  @Override
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = database.pool.getConnection()) {
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void reset() {
    database.execute("truncate outbox_message, outbox_blocked_key, outbox_dedup");
    database.execute(
        "update outbox_bucket set owner = null, leased_at = null, lease_until = null, takeovers = 0, singles = 0");
  }
}
