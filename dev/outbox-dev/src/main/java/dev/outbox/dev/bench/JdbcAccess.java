package dev.outbox.dev.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A pool.
 *
 * @param pool to be closed
 * @param dataSource to be used: the pool, or what counts in front of it
 */
record JdbcAccess(
    HikariDataSource pool,
    DataSource dataSource,
    JdbcOutboxStore store,
    JdbcKind kind,
    String schema)
    implements BenchDatabase.Access {

  @Override
  public OutboxStore<?> store(Archive archive) {
    return kind.store(dataSource).schema(schema).archive(archive).build();
  }

  @Override
  public BenchDatabase.LimitWorker limitWorker(int most) {
    try {
      return new JdbcLimit.Worker(kind, dataSource.getConnection(), schema, most);
    } catch (SQLException e) {
      throw new IllegalStateException("the limit has no connection: " + e.getMessage(), e);
    }
  }

  @Override
  public BenchDatabase.Business business(@Nullable Relay relay) {
    return business(JdbcBusiness.Appending.to(relay == null ? store : relay.wakeOnAppend(store)));
  }

  @Override
  public BenchDatabase.Business handing(Relay relay, OutboxStore<?> relays) {
    JdbcOutboxStore to = (JdbcOutboxStore) relays;
    return business((connection, messages) -> relay.append(to, connection, messages)::committed);
  }

  private BenchDatabase.Business business(JdbcBusiness.Appending appending) {
    try {
      return new JdbcBusiness(
          kind,
          dataSource.getConnection(),
          appending,
          kind.inbox(dataSource).schema(schema).build(),
          schema);
    } catch (SQLException e) {
      throw new IllegalStateException("there is no connection: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
