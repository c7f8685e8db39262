package dev.outbox.example.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.payload.Jackson2PayloadSerializer;
import dev.outbox.payload.Jackson3PayloadSerializer;
import dev.outbox.payload.KafkaPayloadSerializer;
import dev.outbox.payload.OutboxEvent;
import dev.outbox.payload.OutboxEvents;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.payload.SerializedPayload;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.message.BinaryMessageEncoder;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Messages of the application's own classes. */
class PayloadsTest {
  private static final SecureRandom RANDOM = new SecureRandom();

  // tag::event
  @OutboxEvent(aggregate = "order", key = "orderId")
  public record OrderPlaced(String orderId, BigDecimal total) {}

  // end::event

  // tag::sealed
  @OutboxEvent(aggregate = "order", key = "orderId")
  public sealed interface OrderEvent permits OrderPaid, OrderSent {}

  public record OrderPaid(String orderId, BigDecimal amount) implements OrderEvent {}

  public record OrderSent(String orderId, String parcel) implements OrderEvent {}

  // end::sealed

  /** As another team wrote it. */
  public record Refund(String order, String customer) {}

  @Test
  void anEventIsAppendedInTheTransaction() throws Exception {
    try (Shop shop = new Shop()) {
      PostgresOutboxStore outbox = PostgresOutboxStore.of(shop.dataSource);
      outbox.migrate();
      // tag::events
      OutboxEvents events = OutboxEvents.of(Jackson2PayloadSerializer.of(new ObjectMapper()));
      // end::events
      BigDecimal total = new BigDecimal("12.50");
      try (Connection connection = shop.dataSource.getConnection()) {
        connection.setAutoCommit(false);
        // tag::append
        outbox.append(connection, events.message(new OrderPlaced("order-1", total)));
        // end::append
        List<OrderEvent> changes =
            List.of(new OrderPaid("order-1", total), new OrderSent("order-1", "parcel-7"));
        // tag::more
        outbox.append(connection, events.messages(changes)); // in their order, one round trip

        OutboxMessage reminder =
            events
                .prepare(new OrderPlaced("order-1", total))
                .eventType("OrderForgotten")
                .deliverAfter(Duration.ofDays(7))
                .build();
        outbox.append(connection, reminder);
        // end::more
        connection.commit();
      }
      assertThat(RelayOnce.run(outbox, new RecordingPublisher()).delivered())
          .extracting(StoredMessage::message)
          .extracting(OutboxMessage::key, OutboxMessage::eventType, OutboxMessage::payloadAsString)
          .containsExactly(
              tuple("order/order-1", "OrderPlaced", "{\"orderId\":\"order-1\",\"total\":12.50}"),
              tuple("order/order-1", "OrderPaid", "{\"orderId\":\"order-1\",\"amount\":12.50}"),
              tuple(
                  "order/order-1",
                  "OrderSent",
                  "{\"orderId\":\"order-1\",\"parcel\":\"parcel-7\"}"));
    }
  }

  @Test
  void aFunctionSaysWhatAForeignClassIsAbout() {
    JsonMapper jsonMapper = JsonMapper.shared();
    // tag::function
    OutboxEvents events =
        OutboxEvents.builder(Jackson3PayloadSerializer.of(jsonMapper))
            .event(
                Refund.class,
                (message, refund) ->
                    message
                        .aggregate("order", refund.order())
                        .eventType("OrderRefunded")
                        .partitionKey(refund.customer()))
            .build();
    // end::function
    OutboxMessage message = events.message(new Refund("order-1", "customer-2"));
    assertThat(message.key()).isEqualTo("customer-2");
    assertThat(message.eventType()).isEqualTo("OrderRefunded");
    assertThat(message.payloadAsString())
        .isEqualTo("{\"order\":\"order-1\",\"customer\":\"customer-2\"}");
  }

  /** A random nonce, then what AES-GCM makes of the payload; it belongs to this message alone. */
  static byte[] encrypt(SecretKey key, OutboxMessage about, byte[] payload) {
    byte[] nonce = new byte[12];
    RANDOM.nextBytes(nonce);
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(128, nonce));
      cipher.updateAAD(about.id().toString().getBytes(UTF_8));
      byte[] secret = cipher.doFinal(payload);
      return ByteBuffer.allocate(12 + secret.length).put(nonce).put(secret).array();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] decrypt(SecretKey key, OutboxMessage message) throws Exception {
    byte[] payload = message.payload();
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(128, payload, 0, 12));
    cipher.updateAAD(message.id().toString().getBytes(UTF_8));
    return cipher.doFinal(payload, 12, payload.length - 12);
  }

  @Test
  void aSerializerEncryptsWhatAnotherOneWrote() throws Exception {
    SecretKey key = new SecretKeySpec(new byte[32], "AES");
    PayloadSerializer json = Jackson3PayloadSerializer.of(JsonMapper.shared());
    // tag::encrypting
    PayloadSerializer encrypting =
        (about, event) -> {
          SerializedPayload plain = json.serialize(about, event);
          return new SerializedPayload(
              encrypt(key, about, plain.bytes()),
              "application/octet-stream",
              List.of(new Header("encryption-key", "2026-11")));
        };
    OutboxEvents events = OutboxEvents.of(encrypting);
    // end::encrypting
    OutboxMessage message = events.message(new OrderPlaced("order-1", new BigDecimal("12.50")));
    assertThat(message.headers()).containsExactly(new Header("encryption-key", "2026-11"));
    assertThat(message.payloadAsString()).doesNotContain("order-1");
    assertThat(new String(decrypt(key, message), UTF_8))
        .isEqualTo("{\"orderId\":\"order-1\",\"total\":12.50}");
    OutboxMessage other = events.message(new OrderPlaced("order-2", new BigDecimal("12.50")));
    OutboxMessage swapped =
        OutboxMessage.builder()
            .id(other.id())
            .aggregate("order", "order-2")
            .eventType("OrderPlaced")
            .payload(message.payload())
            .build();
    assertThatThrownBy(() -> decrypt(key, swapped)).isInstanceOf(AEADBadTagException.class);
  }

  @Test
  void aSerializerOfKafkasMakesThePayload() {
    Schema schema =
        SchemaBuilder.record("OrderPlaced").fields().requiredString("orderId").endRecord();
    Serializer<GenericRecord> avroSerializer =
        (topic, event) -> {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          try {
            new BinaryMessageEncoder<GenericRecord>(GenericData.get(), schema).encode(event, out);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          return out.toByteArray();
        };
    // tag::avro
    OutboxEvents events =
        OutboxEvents.builder(
                KafkaPayloadSerializer.of(GenericRecord.class, avroSerializer, "avro/binary"))
            .event(
                GenericRecord.class,
                (message, event) ->
                    message
                        .aggregate("order", event.get("orderId").toString())
                        .eventType(event.getSchema().getName()))
            .build();
    // end::avro
    OutboxMessage message =
        events.message(new GenericRecordBuilder(schema).set("orderId", "order-1").build());
    assertThat(message.key()).isEqualTo("order/order-1");
    assertThat(message.eventType()).isEqualTo("OrderPlaced");
    assertThat(message.payload())
        .isEqualTo(
            avroSerializer.serialize(
                "order", new GenericRecordBuilder(schema).set("orderId", "order-1").build()));
  }
}
