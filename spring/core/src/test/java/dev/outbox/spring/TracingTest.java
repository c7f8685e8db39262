package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.shop.ShopApplication;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.context.annotation.Bean;

/** A request's trace, by Micrometer's bridge to OpenTelemetry as Boot configures it. */
@ExtendWith(Servers.Resolver.class)
class TracingTest {
  private static final String SEEN = "seen-by-the-client";

  @SpringBootConfiguration
  static class Exporting {
    @Bean
    InMemorySpanExporter exporter() {
      return InMemorySpanExporter.create();
    }
  }

  /** Says which trace Kafka's client is in when it sends, as instrumentation of it would. */
  public static final class Client implements ProducerInterceptor<Object, Object> {
    @Override
    public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
      record.headers().add(SEEN, Span.current().getSpanContext().getTraceId().getBytes(UTF_8));
      return record;
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configs) {}
  }

  @Test
  void theTraceOfTheRequestGoesOnThroughTheOutbox(Servers servers) throws Exception {
    Schema schema = servers.schema();
    EmbeddedKafka broker = servers.broker();
    Topic topic = Topic.create(broker, schema.name() + ".order");
    try (Application shop =
        Application.start(
            schema,
            List.of(ShopApplication.class, Exporting.class),
            "--shop.recording=false",
            "--spring.kafka.bootstrap-servers=" + broker.bootstrapServers(),
            "--management.tracing.sampling.probability=1.0",
            "--outbox.destination=" + schema.name() + ".{aggregateType}",
            "--outbox.kafka.properties[interceptor.classes]=" + Client.class.getName())) {
      Observation.createNotStarted("request one", shop.bean(ObservationRegistry.class))
          .observe(() -> shop.shop().place("order-1"));
      Observation.createNotStarted("request two", shop.bean(ObservationRegistry.class))
          .observe(() -> shop.shop().place("order-2"));

      List<ConsumerRecord<String, byte[]>> records = topic.records(all -> all.size() >= 2);
      assertThat(records).hasSize(2);
      SpanData one = span(shop, "request one");
      SpanData two = span(shop, "request two");
      assertThat(one.getTraceId()).isNotEqualTo(two.getTraceId());
      for (ConsumerRecord<String, byte[]> record : records) {
        SpanData request = record.key().equals("order-1") ? one : two;
        assertThat(Topic.header(record, "traceparent"))
            .startsWith("00-%s-%s-".formatted(request.getTraceId(), request.getSpanId()));
        assertThat(Topic.header(record, SEEN)).isEqualTo(request.getTraceId());
      }
      await()
          .untilAsserted(
              () ->
                  assertThat(exported(shop))
                      .filteredOn(span -> span.getName().equals("outbox publish"))
                      .flatExtracting(SpanData::getLinks)
                      .extracting(link -> link.getSpanContext().getSpanId())
                      .contains(one.getSpanId(), two.getSpanId()));
    }
  }

  private static List<SpanData> exported(Application shop) {
    shop.bean(SdkTracerProvider.class).forceFlush().join(10, TimeUnit.SECONDS);
    return shop.bean(InMemorySpanExporter.class).getFinishedSpanItems();
  }

  private static SpanData span(Application shop, String name) {
    return exported(shop).stream()
        .filter(span -> span.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
