package dev.outbox.example.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.hsqldb.jdbc.JDBCDataSource;
import org.junit.jupiter.api.Test;

/** Pools may hand out connections with auto-commit off; what the store does is committed. */
class AutoCommitOffTest {

  private static final class Pool extends JDBCDataSource {
    private static final long serialVersionUID = 1L;

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = super.getConnection();
      connection.setAutoCommit(false);
      return connection;
    }
  }

  @Test
  void claimAndSettleAreCommitted() throws SQLException {
    Pool pool = new Pool();
    pool.setUrl("jdbc:hsqldb:mem:" + UUID.randomUUID());
    pool.setUser("sa");
    HsqldbOutboxStore store = new HsqldbOutboxStore(pool);
    store.migrate();
    try (Connection connection = pool.getConnection()) {
      store.append(
          connection,
          List.of(
              OutboxMessage.builder()
                  .aggregate("order", "order-1")
                  .eventType("OrderPlaced")
                  .payload("{}")
                  .build()));
      connection.commit();
    }
    Claim.Request request = new Claim.Request("worker", 10, 1_000, Duration.ofMinutes(1));
    Claim claim = store.claim(request);
    List<Long> claimed = claim.messages().stream().map(StoredMessage::sequence).toList();
    assertThat(claimed).hasSize(1);
    assertThat(store.claim(request).messages()).as("while the first is claimed").isEmpty();
    assertThat(claim.settle(Map.of(claimed.get(0), Decision.delivered()))).as("lost").isEmpty();
    assertThat(store.claim(request).messages()).as("after the delivery").isEmpty();
  }
}
