package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RecordsTest {
  private static final int PARTITIONS = 12;
  private static final UUID ID = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");

  /** As they are where nothing is chosen. */
  static Records records() {
    return new Records(
        Destination.aggregateType(),
        Records::keyOf,
        Records::valueOf,
        null,
        null,
        Records::justSend);
  }

  private static StoredMessage stored() {
    OutboxMessage message =
        OutboxMessage.builder()
            .id(ID)
            .aggregate("order", "4711")
            .eventType("OrderPlaced")
            .payload("{}")
            .header("content-type", "the message's own")
            .header("traceparent", "00-1-2-01")
            .header("traceparent", "00-1-3-01")
            .header(Header.REPLAY_OF, "the id before")
            .correlationId("c")
            .build();
    return StoredMessage.of(42, 3, Instant.parse("2026-11-20T08:09:10.123456Z"), message);
  }

  private static ProducerRecord<byte[], byte[]> of(Records records, StoredMessage message) {
    return records.of(message, records.destination().of(message), PARTITIONS);
  }

  private static Records choosing(
      Function<StoredMessage, byte[]> key,
      Function<StoredMessage, byte[]> value,
      ToIntBiFunction<StoredMessage, Integer> partition) {
    return new Records(Destination.pattern("t"), key, value, partition, null, Records::justSend);
  }

  private static Records cloudEvents(String source) {
    return new Records(
        Destination.pattern("t"),
        Records::keyOf,
        Records::valueOf,
        null,
        URI.create(source),
        Records::justSend);
  }

  private static List<String> headers(ProducerRecord<byte[], byte[]> record) {
    List<String> headers = new ArrayList<>();
    record.headers().forEach(h -> headers.add(h.key() + "=" + new String(h.value(), UTF_8)));
    return headers;
  }

  @Test
  @DisplayName("key, value and headers, the message's own first")
  void record() {
    ProducerRecord<byte[], byte[]> record = of(records(), stored());
    assertThat(record.topic()).isEqualTo("order");
    assertThat(record.key()).isEqualTo("4711".getBytes(UTF_8));
    assertThat(record.value()).isEqualTo("{}".getBytes(UTF_8));
    assertThat(record.partition())
        .as("where other producers of Kafka's client put it")
        .isEqualTo(BuiltInPartitioner.partitionForKey("4711".getBytes(UTF_8), PARTITIONS));
    assertThat(record.timestamp()).isNull();
    assertThat(headers(record))
        .containsExactly(
            "content-type=the message's own",
            "traceparent=00-1-2-01",
            "traceparent=00-1-3-01",
            "replay-of=the id before",
            "outbox-id=" + ID,
            "outbox-aggregate-type=order",
            "outbox-aggregate-id=4711",
            "outbox-event-type=OrderPlaced",
            "content-type=application/json",
            "outbox-created-at=2026-11-20T08:09:10.123456Z",
            "outbox-sequence=42",
            "outbox-correlation-id=c");
    assertThat(record.headers().lastHeader("content-type").value())
        .isEqualTo("application/json".getBytes(UTF_8));
  }

  @Test
  @DisplayName("key, value and partition may be chosen; a null value is a tombstone")
  void chosen() {
    ProducerRecord<byte[], byte[]> record =
        of(choosing(m -> new byte[] {7}, m -> null, null), stored());
    assertThat(record.key()).containsExactly(7);
    assertThat(record.value()).isNull();
    assertThat(record.partition())
        .isEqualTo(BuiltInPartitioner.partitionForKey(new byte[] {7}, PARTITIONS));
    assertThat(of(choosing(m -> null, Records::valueOf, null), stored()).partition())
        .as("without a record key, messages of one key stay together")
        .isEqualTo(of(choosing(Records::keyOf, Records::valueOf, null), stored()).partition());
    assertThat(of(choosing(Records::keyOf, Records::valueOf, (m, n) -> n - 1), stored()))
        .extracting(ProducerRecord::partition)
        .isEqualTo(PARTITIONS - 1);
  }

  @Test
  @DisplayName("a function that throws, or gives a partition that is not there, names the message")
  void chosenWrong() {
    Records throwing =
        choosing(
            m -> {
              throw new IllegalStateException("no schema");
            },
            Records::valueOf,
            null);
    assertThatThrownBy(() -> of(throwing, stored()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the key of")
        .hasMessageContaining("no schema");
    for (int wrong : new int[] {-1, PARTITIONS}) {
      assertThatThrownBy(
              () -> of(choosing(Records::keyOf, Records::valueOf, (m, n) -> wrong), stored()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is " + wrong)
          .hasMessageContaining("0 to 11");
    }
  }

  @Test
  @DisplayName("line ends in texts and headers make no header, and forged ones come before ours")
  void hostile() {
    String text = "x\r\noutbox-id: forged\u001B";
    OutboxMessage message =
        OutboxMessage.builder()
            .id(ID)
            .aggregate(text, text)
            .eventType(text)
            .contentType(text)
            .payload("")
            .header("outbox-id", "forged")
            .header(text, text)
            .build();
    ProducerRecord<byte[], byte[]> record =
        of(cloudEvents("https://shop.example"), StoredMessage.of(1, 0, Instant.EPOCH, message));
    assertThat(headers(record))
        .startsWith("outbox-id=forged", text + "=" + text)
        .contains("outbox-event-type=" + text, "content-type=" + text, "ce_type=" + text)
        .hasSize(16);
    assertThat(record.headers().lastHeader("outbox-id").value())
        .isEqualTo(ID.toString().getBytes(UTF_8));
  }

  @Test
  @DisplayName("as a CloudEvent in binary mode, whose headers stand between the message's and ours")
  void cloudEvent() {
    Records records = cloudEvents("https://shop.example/orders");
    assertThat(headers(of(records, stored())))
        .containsSequence(
            "replay-of=the id before",
            "ce_specversion=1.0",
            "ce_id=" + ID,
            "ce_source=https://shop.example/orders",
            "ce_type=OrderPlaced",
            "ce_subject=4711",
            "ce_time=2026-11-20T08:09:10.123456Z",
            "ce_partitionkey=4711",
            "outbox-id=" + ID);
  }

  private static StoredMessage withSchema(String... schemas) {
    OutboxMessage.Builder message =
        OutboxMessage.builder().aggregate("order", "4711").eventType("OrderPlaced").payload("{}");
    for (String schema : schemas) {
      message.header(Header.DATA_SCHEMA, schema);
    }
    return StoredMessage.of(42, 0, Instant.parse("2026-11-20T08:09:10.123456Z"), message.build());
  }

  @Test
  @DisplayName("the last schema that a message names is the CloudEvent's, if CloudEvents allow it")
  void cloudEventSchema() {
    Records records = cloudEvents("https://shop.example/orders");
    assertThat(headers(of(records, withSchema("https://shop.example/1", "urn:shop:2"))))
        .contains("ce_dataschema=urn:shop:2");
    for (String none : List.of("", "orders/1", "not a URI")) {
      assertThat(headers(of(records, withSchema(none))))
          .contains("dataschema=" + none)
          .noneMatch(header -> header.startsWith("ce_dataschema"));
    }
    assertThat(headers(of(records(), withSchema("urn:shop:2"))))
        .noneMatch(header -> header.startsWith("ce_"));
  }
}
