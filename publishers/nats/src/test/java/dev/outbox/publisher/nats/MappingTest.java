package dev.outbox.publisher.nats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.impl.Headers;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappingTest {
  private static final UUID ID = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
  private static final Destination STANDARD =
      Destination.pattern(NatsPublisher.DEFAULT_DESTINATION);

  private static OutboxMessage.Builder order() {
    return OutboxMessage.builder()
        .id(ID)
        .aggregate("order", "4711")
        .eventType("OrderPlaced")
        .payload("{}");
  }

  private static Mapping.Outgoing of(Destination destination, OutboxMessage.Builder message) {
    Instant created = Instant.parse("2026-11-20T08:09:10.123456Z");
    return new Mapping(destination, null).of(StoredMessage.of(42, 3, created, message.build()));
  }

  private static String subject(OutboxMessage.Builder message) {
    return of(STANDARD, message).subject();
  }

  @Test
  @DisplayName("subject, id, key, attributes, and the message's own headers")
  void message() {
    Mapping.Outgoing sent =
        of(STANDARD, order().correlationId("c").header("tenant", "a b").header("tenant", "c"));
    assertThat(sent.subject()).isEqualTo("order.4711");
    assertThat(sent.body()).isEqualTo("{}".getBytes(UTF_8));
    Headers headers = sent.headers();
    assertThat(headers.keySet())
        .containsExactlyInAnyOrder(
            "Nats-Msg-Id",
            "outbox-key",
            "outbox-id",
            "outbox-aggregate-type",
            "outbox-aggregate-id",
            "outbox-event-type",
            "outbox-content-type",
            "outbox-created-at",
            "outbox-sequence",
            "outbox-correlation-id",
            "outbox-headers",
            "content-type",
            "tenant");
    assertThat(headers.get("Nats-Msg-Id")).containsExactly(ID.toString());
    assertThat(headers.get("outbox-key")).containsExactly("4711");
    assertThat(headers.get("outbox-created-at")).containsExactly("2026-11-20T08:09:10.123456Z");
    assertThat(headers.get("content-type")).containsExactly("application/json");
    assertThat(headers.get("tenant")).containsExactly("a b", "c");
    assertThat(headers.get("outbox-headers"))
        .containsExactly("[[\"tenant\",\"a b\"],[\"tenant\",\"c\"]]");
    assertThat(sent.size()).isEqualTo(headers.getSerialized().length + 2);
  }

  @Test
  @DisplayName("nothing of a message becomes a header of the server's or of ours, or ends a line")
  void hostile() {
    String attack = "x\r\nNats-Rollup: all\r\n\r\n";
    OutboxMessage.Builder message =
        order()
            .eventType(attack)
            .contentType(attack)
            .partitionKey(attack)
            .header("Nats-Rollup", "all")
            .header("nats-expected-stream", "other")
            .header("Nats-Msg-Id", "forged")
            .header("Outbox-Id", "forged")
            .header("ce-id", "forged")
            .header("a:b", "c")
            .header("note", attack)
            .header("ü", "ü")
            .header("long", "x".repeat(256))
            .header("blank", " x");
    Headers headers = of(STANDARD, message).headers();
    assertThat(headers.get("Nats-Msg-Id")).containsExactly(ID.toString());
    assertThat(headers.keySet())
        .doesNotContain("Nats-Rollup", "nats-expected-stream", "Outbox-Id", "ce-id", "note", "ü")
        .doesNotContain("a:b", "long", "blank", "content-type");
    assertThat(headers.get("outbox-event-type"))
        .containsExactly("x%0D%0ANats-Rollup:%20all%0D%0A%0D%0A");
    List<Header> own = message.build().headers();
    assertThat(Header.fromJson(headers.getLast("outbox-headers"))).isEqualTo(own);
  }

  @Test
  @DisplayName("as a CloudEvent in binary mode")
  void cloudEvent() {
    StoredMessage stored = StoredMessage.of(1, 0, Instant.EPOCH, order().build());
    Headers headers =
        new Mapping(STANDARD, URI.create("https://shop.example")).of(stored).headers();
    assertThat(headers.getLast("ce-id")).isEqualTo(ID.toString());
    assertThat(headers.getLast("ce-type")).isEqualTo("OrderPlaced");
    assertThat(headers.getLast("ce-partitionkey")).isEqualTo("4711");
  }

  @Test
  @DisplayName("what a placeholder stands for is one token, whatever is in it")
  void escaped() {
    assertThat(subject(order().aggregateType("a.b*c>d e").aggregateId("$x/ü_-1")))
        .isEqualTo("a%2Eb%2Ac%3Ed%20e.%24x%2F%C3%BC_-1");
    assertThat(subject(order().aggregateId("x".repeat(255)))).endsWith("." + "x".repeat(255));
    String hashed = subject(order().aggregateId("\uD83D\uDE00".repeat(255)));
    assertThat(hashed).matches("order\\.sha256-[0-9a-f]{64}");
    assertThat(subject(order().aggregateId("\uD83D\uDE00".repeat(254)))).isNotEqualTo(hashed);
    assertThat(of(Destination.pattern("shop.{aggregateType}"), order()).subject())
        .isEqualTo("shop.order");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a.*",
        "a.>",
        "a..b",
        ".a",
        "a.",
        "a b",
        "a\r\nPUB x",
        "$JS.API.STREAM.PURGE.x",
        "ü"
      })
  @DisplayName("what is no subject to publish to is refused")
  void refused(String subject) {
    assertThatThrownBy(() -> of(Destination.by(m -> subject), order()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("none that can be published to");
  }

  @Test
  @DisplayName("a subject that does not fit into a line of the protocol is refused")
  void tooLong() {
    assertThatThrownBy(() -> of(Destination.by(m -> "x".repeat(3_501)), order()))
        .hasMessage("the subject has 3501 characters, at most 3500 fit: choose a shorter one");
  }

  @Test
  @DisplayName("what is in trouble is named without the key")
  void place() {
    assertThat(place("shop.{aggregateType}.{recordKey}")).isEqualTo("shop.order.*");
    assertThat(place("shop.{aggregateType}.{aggregateId}")).isEqualTo("shop.order.*");
    assertThat(place("shop.{aggregateType}")).isEqualTo("shop.order");
    assertThat(place("{recordKey}")).isEqualTo("a%2Eb");
  }

  private static String place(String pattern) {
    return of(Destination.pattern(pattern), order().partitionKey("a.b")).place();
  }
}
