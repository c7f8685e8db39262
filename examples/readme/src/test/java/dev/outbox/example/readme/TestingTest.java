package dev.outbox.example.readme;

import static dev.outbox.example.readme.Shop.placeOrder;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingOutbox;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** What a test of a service in plain Java looks like. */
class TestingTest {

  /** A service that is given its outbox. */
  private record Orders(Outbox<Connection> outbox) {
    void place(Connection connection, String id) throws SQLException {
      placeOrder(connection, id);
      outbox.append(
          connection,
          OutboxMessage.builder()
              .aggregate("order", id)
              .eventType("OrderPlaced")
              .payload("{\"total\": 12.50}")
              .build());
    }
  }

  @Test
  void aServiceIsTestedWithoutTablesAndWithThem() throws Exception {
    try (Shop shop = new Shop();
        Connection connection = shop.dataSource.getConnection()) {
      connection.setAutoCommit(false);
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      new Orders(outbox).place(connection, "order-1");
      connection.commit();
      test(outbox, connection);
      connection.rollback();
    }
  }

  private static void test(PostgresOutboxStore outbox, Connection connection) throws Exception {
    // tag::testing
    RecordingOutbox<Connection> recording = new RecordingOutbox<>(); // in the store's place
    new Orders(recording).place(connection, "order-2");
    assertThat(recording)
        .hasAppended("OrderPlaced")
        .ofAggregate("order", "order-2")
        .withJson("{\"total\": 12.5}")
        .once();

    RecordingPublisher publisher = new RecordingPublisher();
    RelayOnce.run(outbox, publisher); // publishes what is due in a real store
    assertThat(publisher).hasDelivered("OrderPlaced").withKey("order/order-1");
    // end::testing
  }
}
