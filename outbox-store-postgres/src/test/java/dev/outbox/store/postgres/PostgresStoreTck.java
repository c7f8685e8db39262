package dev.outbox.store.postgres;

import dev.outbox.embedded.PostgresServer;
import dev.outbox.spi.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.DedupWindows;
import dev.outbox.tck.OutboxStoreTck;
import dev.outbox.tck.RawRows;
import dev.outbox.tck.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The TCK on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class PostgresStoreTck extends OutboxStoreTck<Connection>
    implements AutoCommit<Connection>,
        ReadOnlyTransactions<Connection>,
        DedupWindows<Connection>,
        RawRows<Connection> {
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
  public OutboxStore<Connection> createStore(Duration dedupWindow) {
    return PostgresOutboxStore.builder(database.pool).dedupWindow(dedupWindow).build();
  }

  @Override
  public void insertRaw(Connection transaction, RawRow row) {
    Map<String, Object> columns = new LinkedHashMap<>();
    columns.put("id", row.id());
    columns.put("aggregate_type", row.aggregateType());
    columns.put("aggregate_id", row.aggregateId());
    columns.put("event_type", row.eventType());
    columns.put("payload", row.payload());
    columns.put("partition_key", row.partitionKey());
    columns.put(
        "available_at",
        row.availableAt() == null ? null : row.availableAt().atOffset(ZoneOffset.UTC));
    columns.values().removeIf(Objects::isNull);
    insert(transaction, columns);
  }

  @Override
  public void insertUndecodable(Connection transaction, String key) {
    RawRow row = RawRow.of(key);
    insertRaw(transaction, row);
    try (PreparedStatement statement =
        transaction.prepareStatement("update outbox_message set headers = '[1]' where id = ?")) {
      statement.setObject(1, row.id());
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void insert(Connection transaction, Map<String, Object> columns) {
    String sql =
        "insert into outbox_message (%s) values (%s)"
            .formatted(
                String.join(", ", columns.keySet()),
                String.join(", ", Collections.nCopies(columns.size(), "?")));
    try (PreparedStatement statement = transaction.prepareStatement(sql)) {
      int i = 0;
      for (Object value : columns.values()) {
        statement.setObject(++i, value);
      }
      statement.executeUpdate();
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
