package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Outbox;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import dev.outbox.tracing.OutboxTracing;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.sql.Connection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A trace through the outbox. */
class TracingTest {
  @RegisterExtension
  static final OpenTelemetryExtension telemetry = OpenTelemetryExtension.create();

  @Test
  void theTraceOfTheRequestIsInTheMessage() throws Exception {
    OpenTelemetry openTelemetry = telemetry.getOpenTelemetry();
    RecordingPublisher broker = new RecordingPublisher();
    try (Shop shop = new Shop()) {
      PostgresOutboxStore store = PostgresOutboxStore.of(shop.dataSource);
      store.migrate();
      // tag::append
      OutboxTracing tracing = OutboxTracing.of(openTelemetry);
      Outbox<Connection> outbox = tracing.outbox(store); // append through this one
      // end::append
      Span span = openTelemetry.getTracer("shop").spanBuilder("POST /orders").startSpan();
      try (Connection connection = shop.dataSource.getConnection();
          Scope current = span.makeCurrent()) {
        connection.setAutoCommit(false);
        outbox.append(connection, Shop.paid("order-1"));
        connection.commit();
      }
      span.end();
      try (MessagePublisher unused = relay(tracing, store)) {
        RelayOnce.run(store, tracing.publisher(broker));
      }
      String traceId = span.getSpanContext().getTraceId();
      assertThat(broker.delivered().get(0).message().headers().get(0).value()).contains(traceId);
      assertThat(telemetry.getSpans())
          .filteredOn(batch -> batch.getName().equals("outbox publish"))
          .flatExtracting(batch -> batch.getLinks())
          .extracting(link -> link.getSpanContext().getTraceId())
          .containsExactly(traceId);
    }
  }

  /** Is built as shown; without a broker, so it is not started. */
  private static MessagePublisher relay(OutboxTracing tracing, PostgresOutboxStore store) {
    String bootstrapServers = "127.0.0.1:1";
    // tag::relay
    KafkaPublisher kafka =
        KafkaPublisher.builder()
            .property("bootstrap.servers", bootstrapServers)
            .aroundSend(tracing::send)
            .build();
    Relay relay = Relay.builder(store, tracing.publisher(kafka)).build();
    // end::relay
    relay.close();
    return kafka;
  }
}
