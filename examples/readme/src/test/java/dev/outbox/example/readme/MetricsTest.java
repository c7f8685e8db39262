package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.relay.Relay;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

class MetricsTest {

  @Test
  void aRelayIsMeasured() throws Exception {
    try (Shop shop = new Shop()) {
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      RecordingPublisher publisher = new RecordingPublisher();
      MeterRegistry registry = new SimpleMeterRegistry();
      // tag::metrics
      OutboxMetrics metrics = OutboxMetrics.of(outbox);
      metrics.bindTo(registry);
      Relay relay = Relay.builder(outbox, publisher).listener(metrics).build();
      // end::metrics
      try (Connection connection = shop.dataSource.getConnection()) {
        connection.setAutoCommit(false);
        OutboxMessage message = Shop.paid("order-1");
        outbox.append(connection, message);
        connection.commit();
      }
      relay.runOnce();
      assertThat(registry.get("outbox.delivered").tag("aggregate.type", "order").counter().count())
          .isEqualTo(1);
      await()
          .until(
              () ->
                  registry.get("outbox.messages").tag("status", "dead").gauge().value() == 0);
      relay.close();
      metrics.close();
    }
  }
}
