package dev.outbox.example.store;

import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.OutboxStoreProperties;
import dev.outbox.tck.RawRows;
import dev.outbox.tck.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Nested;

/** The TCK over the example, with the fixtures that cost a few lines. */
class HsqldbOutboxStoreTest extends HsqldbCoreTest
    implements AutoCommit<Connection>, ReadOnlyTransactions<Connection>, RawRows<Connection> {

  @AfterAll
  void shutdown() {
    withoutTransaction(connection -> execute(connection, "shutdown"));
  }

  /** The clock cannot be moved, but all times that are compared with it can. */
  private void letPass(Duration time) {
    String earlier = " - interval '%d' second".formatted(time.toSeconds());
    inTransaction(
        connection ->
            execute(
                connection,
                Stream.of("leased_until", "available_at", "retry_at")
                    .map(column -> column + " = " + column + earlier)
                    .collect(Collectors.joining(", ", "update outbox_message set ", ""))));
  }

  @Nested
  class Properties extends OutboxStoreProperties<Connection> {
    Properties() {
      super(HsqldbOutboxStoreTest.this);
    }

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
  public void withoutTransaction(Consumer<Connection> work) {
    try (Connection connection = dataSource.getConnection()) {
      work.accept(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void insertRaw(Connection connection, RawRow row) {
    List<String> columns =
        new ArrayList<>(List.of("id", "aggregate_type", "aggregate_id", "event_type", "payload"));
    List<Object> values =
        new ArrayList<>(
            List.of(
                row.id(), row.aggregateType(), row.aggregateId(), row.eventType(), row.payload()));
    if (row.partitionKey() != null) {
      columns.add("partition_key");
      values.add(row.partitionKey());
    }
    if (row.availableAt() != null) {
      columns.add("available_at");
      values.add(row.availableAt().atOffset(ZoneOffset.UTC));
    }
    insert(connection, columns, values);
  }

  @Override
  public void insertUndecodable(Connection connection, String key) {
    insert(
        connection,
        List.of("id", "aggregate_type", "aggregate_id", "event_type", "payload", "headers"),
        List.of(UUID.randomUUID(), "order", key, "OrderChanged", new byte[0], "no headers"));
  }

  private static void insert(Connection connection, List<String> columns, List<Object> values) {
    String marks = ", ?".repeat(values.size()).substring(2);
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into outbox_message (%s) values (%s)"
                .formatted(String.join(", ", columns), marks))) {
      for (int i = 0; i < values.size(); i++) {
        insert.setObject(i + 1, values.get(i));
      }
      insert.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
