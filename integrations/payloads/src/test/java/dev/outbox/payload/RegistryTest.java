package dev.outbox.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.EmbeddedRegistry;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

@TestMethodOrder(OrderAnnotation.class)
@DisplayName("Avro with a schema registry")
class RegistryTest {
  private static EmbeddedRegistry registry;

  @BeforeAll
  static void start() {
    registry = EmbeddedRegistry.start();
  }

  @AfterAll
  static void close() {
    registry.close();
  }

  private static Schema schema(String name) {
    return SchemaBuilder.record(name)
        .namespace("com.example.shop")
        .fields()
        .requiredString("orderId")
        .requiredInt("total")
        .endRecord();
  }

  private static GenericRecord event(String name, String order, int total) {
    return new GenericRecordBuilder(schema(name)).set("orderId", order).set("total", total).build();
  }

  private static AvroKafkaSerializer<GenericRecord> serializer(boolean register) {
    AvroKafkaSerializer<GenericRecord> serializer = new AvroKafkaSerializer<>();
    serializer.configure(settings(Map.of("apicurio.registry.auto-register", register)), false);
    return serializer;
  }

  private static Map<String, Object> settings(Map<String, Object> more) {
    Map<String, Object> settings = new HashMap<>(more);
    settings.put("apicurio.registry.url", registry.url());
    return settings;
  }

  private static OutboxEvents events(AvroKafkaSerializer<GenericRecord> serializer) {
    return OutboxEvents.builder(
            KafkaPayloadSerializer.of(GenericRecord.class, serializer, "avro/binary"))
        .event(
            GenericRecord.class,
            (message, event) ->
                message
                    .aggregate("order", event.get("orderId").toString())
                    .eventType(event.getSchema().getName()))
        .build();
  }

  @Test
  @DisplayName("an event that was appended is read by the registry's deserializer")
  void readBack() throws Exception {
    MemoryOutboxStore store = new MemoryOutboxStore();
    RecordingPublisher publisher = new RecordingPublisher();
    GenericRecord placed = event("OrderPlaced", "4711", 12);
    try (AvroKafkaSerializer<GenericRecord> serializer = serializer(true);
        AvroKafkaDeserializer<GenericRecord> consumer = new AvroKafkaDeserializer<>()) {
      store.inTransaction(tx -> store.append(tx, events(serializer).message(placed)));
      assertThat(RelayOnce.run(store, publisher).delivered())
          .extracting(StoredMessage::message)
          .extracting(OutboxMessage::eventType, OutboxMessage::key)
          .containsExactly(tuple("OrderPlaced", "order/4711"));

      consumer.configure(settings(Map.of()), false);
      OutboxMessage message = publisher.delivered().get(0).message();
      assertThat(message.contentType()).isEqualTo("avro/binary");
      assertThat(consumer.deserialize("order", headers(message), message.payload()))
          .isEqualTo(placed);
    }
  }

  private static Headers headers(OutboxMessage message) {
    Headers headers = new RecordHeaders();
    message
        .headers()
        .forEach(h -> headers.add(h.name(), h.value().getBytes(StandardCharsets.UTF_8)));
    return headers;
  }

  @Test
  @DisplayName("a schema that nobody registered fails the append")
  void unregistered() {
    MemoryOutboxStore store = new MemoryOutboxStore();
    try (AvroKafkaSerializer<GenericRecord> serializer = serializer(false)) {
      OutboxEvents events = events(serializer);
      assertThatThrownBy(
              () ->
                  store.inTransaction(
                      tx -> store.append(tx, events.message(event("OrderLost", "1", 1)))))
          .hasMessageContaining("Could not resolve artifact reference");
      assertThat(RelayOnce.run(store, new RecordingPublisher()).delivered()).isEmpty();
    }
  }

  @Test
  @Order(Integer.MAX_VALUE) // it ends the registry
  @DisplayName("while the registry is away, a schema that is known is written, another is refused")
  void registryAway() {
    try (AvroKafkaSerializer<GenericRecord> beforehand = serializer(true);
        AvroKafkaSerializer<GenericRecord> serializer = serializer(false)) {
      beforehand.serialize("order", event("OrderPaid", "0", 0));
      OutboxEvents events = events(serializer);
      int size = events.message(event("OrderPaid", "1", 1)).payloadSize();
      registry.kill();
      assertThat(events.message(event("OrderPaid", "2", 2)).payloadSize()).isEqualTo(size);
      assertThatThrownBy(() -> events.message(event("OrderSent", "1", 1)))
          .hasRootCauseInstanceOf(ConnectException.class);
    }
  }
}
