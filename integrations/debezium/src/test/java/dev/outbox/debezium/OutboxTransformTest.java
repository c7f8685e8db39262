package dev.outbox.debezium;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The transform")
class OutboxTransformTest {

  private static SourceRecord apply(SourceRecord record) {
    return apply(Map.of(), record);
  }

  private static SourceRecord apply(Map<String, ?> settings, SourceRecord record) {
    try (OutboxTransform<SourceRecord> transform = new OutboxTransform<>()) {
      transform.configure(settings);
      return transform.apply(record);
    }
  }

  /** As Connect writes them unless told otherwise. */
  private static List<String> headers(SourceRecord record) {
    List<String> headers = new ArrayList<>();
    SimpleHeaderConverter converter = new SimpleHeaderConverter();
    for (Header header : record.headers()) {
      byte[] bytes =
          converter.fromConnectHeader(
              record.topic(), header.key(), header.schema(), header.value());
      headers.add(header.key() + "=" + new String(bytes, UTF_8));
    }
    return headers;
  }

  private static String key(SourceRecord record) {
    return new String((byte[]) record.key(), UTF_8);
  }

  private static String value(SourceRecord record) {
    return new String((byte[]) record.value(), UTF_8);
  }

  @Test
  @DisplayName("is found by a worker that looks for plugins by their names")
  void found() {
    assertThat(ServiceLoader.load(Transformation.class))
        .anyMatch(transformation -> transformation instanceof OutboxTransform);
  }

  @Nested
  @DisplayName("makes of an insert")
  class Inserts {

    @Test
    @DisplayName("the publisher's record, with neither partition nor time")
    void record() {
      SourceRecord record = apply(Changes.postgres().inserted());
      assertThat(record.topic()).isEqualTo("order");
      assertThat(key(record)).isEqualTo("4711");
      assertThat(value(record)).isEqualTo("{}");
      assertThat(record.keySchema()).isEqualTo(Schema.BYTES_SCHEMA);
      assertThat(record.valueSchema()).isEqualTo(Schema.BYTES_SCHEMA);
      assertThat(record.kafkaPartition()).isNull();
      assertThat(record.timestamp()).isNull();
      assertThat(record.sourceOffset()).as("where to go on").isEqualTo(Map.of("lsn", 1L));
      assertThat(headers(record))
          .containsExactly(
              "b=1",
              "a=2",
              "b=3",
              "outbox-id=" + Changes.ID,
              "outbox-aggregate-type=order",
              "outbox-aggregate-id=4711",
              "outbox-event-type=OrderPlaced",
              "content-type=application/json",
              "outbox-created-at=2026-11-28T05:29:10.123456Z",
              "outbox-sequence=42");
    }

    @Test
    @DisplayName("the same one on MySQL, where times are numbers")
    void mysql() {
      Instant time = Instant.ofEpochSecond(Changes.MICROS / 1_000_000, 123_456_000);
      assertThat(headers(apply(Changes.mysql().inserted())))
          .contains("outbox-created-at=" + time, "outbox-sequence=42");
    }

    @Test
    @DisplayName("a record with the partition key, where there is one, and with all that was given")
    void all() {
      SourceRecord record =
          apply(
              Changes.postgres()
                  .with("partition_key", "customer-1")
                  .with("dedup_key", "d")
                  .with("correlation_id", "c")
                  .with("payload", new byte[0])
                  .with("headers", "{\"plain\":\"sql\"}")
                  .record("r"));
      assertThat(key(record)).isEqualTo("customer-1");
      assertThat(value(record)).isEmpty();
      assertThat(headers(record))
          .startsWith("plain=sql")
          .endsWith("outbox-dedup-key=d", "outbox-correlation-id=c");
    }

    @ParameterizedTest
    @ValueSource(
        strings = {"true", "null", "[1,2]", "\"quoted\"", "back\\slash", "12.50", "ü🎉", ""})
    @DisplayName("headers whose text is not taken for a number, a list or anything else")
    void texts(String text) {
      String json = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
      SourceRecord record =
          apply(Changes.postgres().with("headers", "[[\"h\"," + json + "]]").inserted());
      assertThat(headers(record)).startsWith("h=" + text);
    }

    @Test
    @DisplayName("a record of the topic that the settings say")
    void destination() {
      Map<String, String> settings =
          Map.of(
              "type", OutboxTransform.class.getName(),
              "destination", "shop.{aggregateType}",
              "destination.invoice", "bills");
      assertThat(apply(settings, Changes.postgres().inserted()).topic()).isEqualTo("shop.order");
      assertThat(
              apply(settings, Changes.postgres().with("aggregate_type", "invoice").inserted())
                  .topic())
          .isEqualTo("bills");
    }

    @Test
    @DisplayName("a CloudEvent, where a source is given")
    void cloudEvent() {
      SourceRecord record =
          apply(Map.of("cloudEventsSource", "https://shop.example"), Changes.postgres().inserted());
      assertThat(headers(record))
          .containsSubsequence(
              "b=3", "ce_source=https://shop.example", "ce_subject=4711", "outbox-sequence=42");
    }
  }

  @Nested
  @DisplayName("drops")
  class Drops {

    @ParameterizedTest
    @ValueSource(strings = {"u", "d", "t"})
    @DisplayName("updates, deletions and truncations")
    void operations(String operation) {
      assertThat(apply(Changes.postgres().record(operation))).isNull();
    }

    @Test
    @DisplayName("what is behind a deletion")
    void tombstone() {
      assertThat(apply(Changes.record(null, null))).isNull();
    }

    @Test
    @DisplayName("the second half of an update that changed the primary key, as MySQL's moves do")
    void moved() {
      SourceRecord moved = Changes.mysql().inserted();
      moved.headers().addString("__debezium.oldkey", "the old key");
      assertThat(apply(moved)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"DEAD, true", "PENDING, false", "SCHEDULED, false", "BLOCKED, false"})
    @DisplayName("dead letters")
    void dead(String status, boolean dropped) {
      SourceRecord record = apply(Changes.postgres().with("status", status).record("r"));
      assertThat(record == null).isEqualTo(dropped);
    }
  }

  @Test
  @DisplayName("lets a heartbeat pass, with which Connect moves its offset on")
  void heartbeat() {
    Schema schema =
        SchemaBuilder.struct()
            .name("io.debezium.connector.common.Heartbeat")
            .field("ts_ms", Schema.INT64_SCHEMA)
            .build();
    SourceRecord heartbeat = Changes.record(schema, new Struct(schema).put("ts_ms", 1L));
    assertThat(apply(heartbeat)).isSameAs(heartbeat);
    SourceRecord text = Changes.record(Schema.STRING_SCHEMA, "text");
    assertThat(apply(text)).isSameAs(text);
  }

  @Nested
  @DisplayName("stops at a message that cannot be published")
  class Unpublishable {
    private final Map<String, String> letters = Map.of("deadLetterTopic", "letters");

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "id             | no uuid     | no uuid",
          "headers        | [1]         | [",
          "aggregate_type | ' '         | aggregateType",
          "created_at     | infinity    | infinity",
        })
    @DisplayName("because its row is none, and says which and why")
    void undecodable(String column, String value, String why) {
      Changes row = Changes.postgres().with(column, value);
      assertThatThrownBy(() -> apply(row.inserted()))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll("message 42", why, "deadLetterTopic");
    }

    @Test
    @DisplayName("or sends it to its dead letters, with the key and the payload")
    void letter() {
      SourceRecord record = apply(letters, Changes.postgres().with("id", "no uuid").inserted());
      assertThat(record.topic()).isEqualTo("letters");
      assertThat(key(record)).isEqualTo("order/4711");
      assertThat(value(record)).isEqualTo("{}");
      assertThat(headers(record))
          .hasSize(2)
          .startsWith("outbox-sequence=42")
          .element(1)
          .asString()
          .startsWith("outbox-error=")
          .contains("no uuid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"with space", "ümlaut", "..", "a/b"})
    @DisplayName("because Kafka allows no such topic, or sends it there")
    void noTopic(String type) {
      SourceRecord record = Changes.postgres().with("aggregate_type", type).inserted();
      assertThatThrownBy(() -> apply(record))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll("message 42", type, "249");
      assertThat(apply(letters, record).topic()).isEqualTo("letters");
    }

    @Test
    @DisplayName("because it has no destination, or sends it there whole")
    void noDestination() {
      Map<String, String> pattern = Map.of("destination", "{header.tenant}");
      assertThatThrownBy(() -> apply(pattern, Changes.postgres().inserted()))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll("message 42", "tenant");
      SourceRecord record =
          apply(
              Map.of("destination", "{header.tenant}", "deadLetterTopic", "letters"),
              Changes.postgres().inserted());
      assertThat(record.topic()).isEqualTo("letters");
      assertThat(key(record)).isEqualTo("4711");
      assertThat(headers(record))
          .startsWith("b=1")
          .contains("outbox-id=" + Changes.ID)
          .last()
          .asString()
          .startsWith("outbox-error=")
          .contains("tenant");
    }
  }

  @Nested
  @DisplayName("refuses")
  class Refuses {

    @ParameterizedTest
    @ValueSource(strings = {"seq", "payload", "headers", "partition_key", "created_at"})
    @DisplayName("a row of another table, also where there is a topic for dead letters")
    void otherTable(String column) {
      assertThatThrownBy(
              () ->
                  apply(
                      Map.of("deadLetterTopic", "letters"),
                      Changes.postgres().without(column).inserted()))
          .isInstanceOf(ConnectException.class)
          .hasMessageContainingAll(
              "shop.public.outbox_message.Value", column, "table.include.list");
    }

    @Test
    @DisplayName("a payload that a setting has made a text of")
    void textPayload() {
      assertThatThrownBy(
              () ->
                  apply(Changes.postgres().put("payload", Schema.STRING_SCHEMA, "e30=").inserted()))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("binary.handling.mode");
    }

    @Test
    @DisplayName("a time that a setting has cut to milliseconds")
    void milliseconds() {
      assertThatThrownBy(
              () ->
                  apply(
                      Changes.mysql()
                          .put(
                              "created_at",
                              org.apache.kafka.connect.data.Timestamp.SCHEMA,
                              java.util.Date.from(Instant.EPOCH))
                          .inserted()))
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("time.precision.mode");
    }

    @ParameterizedTest
    @CsvSource({
      "destinaton, orders, destinaton",
      "destination, {aggregate}, {aggregate}",
      "destination, '', blank",
      "cloudEventsSource, 'no uri', 'cloudEventsSource is no uri, which is no URI'",
      "deadLetterTopic, 'dead letters', dead letters",
    })
    @DisplayName("settings that do not exist or mean nothing")
    void settings(String name, String value, String said) {
      assertThatThrownBy(() -> apply(Map.of(name, value), Changes.postgres().inserted()))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining(said);
    }
  }
}
