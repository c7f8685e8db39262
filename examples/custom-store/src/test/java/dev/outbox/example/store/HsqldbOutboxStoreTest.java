package dev.outbox.example.store;

import dev.outbox.tck.MovesClock;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.OutboxStoreProperties;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;

/** The TCK over the example, with the fixtures that cost a few lines. */
class HsqldbOutboxStoreTest extends HsqldbCoreTest
    implements ReadOnlyTransactions<Connection>, RawRows<Connection>, ExpiresMessages {

  /** {@link HsqldbCoreTest} has run with the whole load. */
  @Override
  protected int load() {
    return 500;
  }

  @AfterAll
  void shutdown() {
    execute("shutdown");
  }

  /** The clock cannot be moved, but all times that are compared with it can. */
  private void letPass(Duration time) {
    String earlier = " - interval '%d' second".formatted(time.toSeconds());
    execute(
        Stream.of("leased_until", "available_at", "retry_at")
            .map(column -> column + " = " + column + earlier)
            .collect(Collectors.joining(", ", "update outbox_message set ", "")));
  }

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {
    @Override
    protected MovesClock clock() {
      return HsqldbOutboxStoreTest.this::letPass;
    }
  }

  // What follows unlocks more tests.

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    inTransaction(
        connection -> {
          try {
            connection.setReadOnly(true);
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
          work.accept(connection);
        });
  }

  @Override
  public void insertRaw(Connection connection, RawRow row) {
    insert(connection, row, Map.of());
  }

  @Override
  public void insertUndecodable(Connection connection, RawRow row) {
    insert(connection, row, Map.of("headers", "no headers"));
  }

  private static void insert(Connection connection, RawRow row, Map<String, Object> more) {
    Map<String, Object> columns = new LinkedHashMap<>(more);
    columns.put("id", row.id());
    columns.put("aggregate_type", row.aggregateType());
    columns.put("aggregate_id", row.aggregateId());
    columns.put("event_type", row.eventType());
    columns.put("payload", row.payload());
    if (row.partitionKey() != null) {
      columns.put("partition_key", row.partitionKey());
    }
    if (row.availableAt() != null) {
      columns.put("available_at", row.availableAt().atOffset(ZoneOffset.UTC));
    }
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into outbox_message (%s) values (%s)"
                .formatted(
                    String.join(", ", columns.keySet()),
                    ", ?".repeat(columns.size()).substring(2)))) {
      int i = 0;
      for (Object value : columns.values()) {
        insert.setObject(++i, value);
      }
      insert.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
