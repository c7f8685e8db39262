package dev.outbox.tracing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.instrumentation.kafkaclients.v2_6.KafkaTelemetry;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * OpenTelemetry's own instrumentation of Kafka's client, as a library: it does at each send what
 * the agent does.
 */
@DisplayName("With an instrumented Kafka client")
class InstrumentedClientTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e473";

  @RegisterExtension
  static final OpenTelemetryExtension telemetry = OpenTelemetryExtension.create();

  private static TestServer kafka;

  @BeforeAll
  static void start() {
    kafka = TestServer.kafka(Map.of("auto.create.topics.enable", "false"));
  }

  @AfterAll
  static void close() {
    kafka.close();
  }

  private static String topic() throws Exception {
    String name = "tracing-" + UUID.randomUUID();
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
      admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get();
    }
    return name;
  }

  /** Three messages of three traces. */
  private static List<StoredMessage> messages(String topic) {
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      OutboxMessage message =
          OutboxMessage.builder()
              .aggregate(topic, "order-" + i)
              .eventType("Placed")
              .payload("{}")
              .header("traceparent", "00-" + TRACE + i + "-00f067aa0ba902b7-01")
              .build();
      messages.add(StoredMessage.of(i, 0, Instant.now(), message));
    }
    return messages;
  }

  /** The ids of the traces that consumers see. */
  private static Set<String> published(UnaryOperator<KafkaPublisher.Builder> settings)
      throws Exception {
    return published(settings, true);
  }

  private static Set<String> published(
      UnaryOperator<KafkaPublisher.Builder> settings, boolean propagating) throws Exception {
    String topic = topic();
    OpenTelemetry openTelemetry = telemetry.getOpenTelemetry();
    KafkaPublisher.Builder builder =
        KafkaPublisher.builder()
            .property("bootstrap.servers", kafka.address())
            .properties(
                KafkaTelemetry.builder(openTelemetry)
                    .setPropagationEnabled(propagating)
                    .build()
                    .producerInterceptorConfigProperties());
    try (KafkaPublisher publisher = settings.apply(builder).build()) {
      List<Result> results =
          OutboxTracing.of(openTelemetry).publisher(publisher).publish(messages(topic));
      assertThat(results).containsOnly(Result.delivered());
    }
    Set<String> traces = new TreeSet<>();
    for (ConsumerRecord<byte[], byte[]> record : read(topic)) {
      Header header = record.headers().lastHeader("traceparent");
      traces.add(new String(header.value(), UTF_8).split("-", -1)[1]);
    }
    return traces;
  }

  private static List<ConsumerRecord<byte[], byte[]>> read(String topic) {
    Map<String, Object> settings = Map.of("bootstrap.servers", kafka.address());
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> all = List.of(new TopicPartition(topic, 0));
      consumer.assign(all);
      consumer.seekToBeginning(all);
      List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
      Awaitility.await()
          .pollInSameThread()
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
                return records.size() == 3;
              });
      return records;
    }
  }

  @Test
  @DisplayName("each message's trace goes on in its record")
  void traceGoesOn() throws Exception {
    OutboxTracing tracing = OutboxTracing.of(telemetry.getOpenTelemetry());
    assertThat(published(builder -> builder.aroundSend(tracing::send)))
        .containsExactly(TRACE + "0", TRACE + "1", TRACE + "2");
  }

  @Test
  @DisplayName("and without the hook all of a batch would belong to the relay's trace")
  void trap() throws Exception {
    assertThat(published(builder -> builder))
        .hasSize(1)
        .doesNotContain(TRACE + "0", TRACE + "1", TRACE + "2");
  }

  /** With the agent: {@code -Dotel.instrumentation.kafka.producer-propagation.enabled=false}. */
  @Test
  @DisplayName("and without the hook either, where the client is told to write no headers")
  void noPropagation() throws Exception {
    assertThat(published(builder -> builder, false))
        .containsExactly(TRACE + "0", TRACE + "1", TRACE + "2");
  }
}
