package dev.outbox.payload;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A serializer of Kafka's")
class KafkaPayloadSerializerTest {
  private static final OutboxMessage ABOUT =
      OutboxMessage.builder().aggregate("order", "1").eventType("Placed").payload("").build();

  /** Adds these headers, and says the topic. */
  private static Serializer<String> adding(Map<String, byte[]> added) {
    return new Serializer<>() {
      @Override
      public byte[] serialize(String topic, String data) {
        throw new AssertionError("a serializer may need the headers");
      }

      @Override
      public byte[] serialize(String topic, Headers headers, String data) {
        new TreeMap<>(added).forEach(headers::add);
        return (topic + ":" + data).getBytes(UTF_8);
      }
    };
  }

  @Test
  @DisplayName("gives bytes and headers, and is told the topic")
  void given() {
    KafkaPayloadSerializer<String> serializer =
        KafkaPayloadSerializer.of(
            String.class,
            adding(Map.of("schema", "17".getBytes(UTF_8), "empty", new byte[0])),
            "a/b");
    SerializedPayload payload = serializer.serialize(ABOUT, "x");
    assertThat(payload.bytes()).asString(UTF_8).isEqualTo("order:x");
    assertThat(payload.contentType()).isEqualTo("a/b");
    assertThat(payload.headers())
        .containsExactly(new Header("empty", ""), new Header("schema", "17"));
    assertThat(serializer.topic(about -> "shop." + about.eventType()).serialize(ABOUT, "x").bytes())
        .asString(UTF_8)
        .isEqualTo("shop.Placed:x");
  }

  @ParameterizedTest
  @ValueSource(strings = {"00000007", "ff"})
  @DisplayName("that adds a header which is no text is refused: it would arrive changed")
  void binaryHeader(String hex) {
    byte[] value = java.util.HexFormat.of().parseHex(hex);
    assertThatThrownBy(
            () ->
                KafkaPayloadSerializer.of(String.class, adding(Map.of("id", value)), "a/b")
                    .serialize(ABOUT, "x"))
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("adds the header id, which is no text");
  }

  @Test
  @DisplayName("that gives null is refused: a payload is never null")
  void tombstone() {
    Serializer<String> none = (topic, data) -> null;
    assertThatThrownBy(
            () -> KafkaPayloadSerializer.of(String.class, none, "a/b").serialize(ABOUT, "x"))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("gives null for java.lang.String");
  }

  @Test
  @DisplayName("gets nothing that it does not take")
  void otherType() {
    assertThatThrownBy(
            () ->
                KafkaPayloadSerializer.of(String.class, new StringSerializer(), "text/plain")
                    .serialize(ABOUT, Arrays.asList(1, 2)))
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("is no java.lang.String, which")
        .hasMessageContaining("StringSerializer takes");
  }
}
