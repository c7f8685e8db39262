package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.publisher.PublisherTck.Attribute;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;

@DisplayName("What arrives")
@Rule("P4")
abstract class PublisherArrivalTests extends PublisherTests {
  private static final String UNICODE = "Grüße, 世界 😀 ";

  @Sentence("every field arrives, Unicode and binary payloads included")
  void everything() {
    byte[] payload = new byte[256];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) i;
    }
    assertArrives(
        tck.message("aggregate " + UNICODE)
            .eventType("type " + UNICODE)
            .partitionKey("key " + UNICODE)
            .payload(payload)
            .contentType("application/octet-stream")
            .dedupKey("dedup " + UNICODE)
            .correlationId("correlation " + UNICODE)
            .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
            .header("tracestate", "vendor=value")
            .header("Name", "upper case")
            .header("name", UNICODE)
            .header("name", "")
            .header("name " + UNICODE, "third")
            .header("name", "fourth"));
  }

  @Sentence("a message with the least of everything arrives, and nothing that it has not")
  void least() {
    assertArrives(tck.message("k").payload(new byte[0]));
  }

  @Sentence("the largest message arrives")
  void largest() {
    String text = "\uD83D\uDE00".repeat(OutboxMessage.MAX_TEXT);
    String name = "h".repeat(100);
    assertArrives(
        tck.message(text)
            .eventType(text)
            .partitionKey(text)
            .contentType(text)
            .dedupKey(text)
            .correlationId(text)
            .header(name, "x".repeat(OutboxMessage.MAX_HEADERS - name.length()))
            .payload(new byte[OutboxMessage.MAX_PAYLOAD]));
  }

  @Sentence("line breaks, separators and blanks at the ends arrive, and a hundred headers")
  void characters() {
    String text = " \t\r\nX-Fake: 1\r\n\r\n\"'`\\%41%zz+&=?#/;:,.*>{}[]|~\u007f\u0085\u2028\u0001 ";
    OutboxMessage.Builder message =
        tck.message("aggregate" + text)
            .eventType("type" + text)
            .partitionKey(text + "key" + text)
            .contentType("text/plain; charset=\"utf-8\"")
            .dedupKey("dedup" + text)
            .correlationId(text + "correlation")
            .header("name" + text, text)
            .header("blank", " ")
            .header("empty", "");
    for (int i = 4; i <= OutboxMessage.MAX_HEADER_COUNT; i++) {
      message.header("header" + i, "value " + i);
    }
    assertArrives(message);
  }

  private void assertArrives(OutboxMessage.Builder builder) {
    StoredMessage sent = tck.stored(builder);
    checkDelivered(tck.publish(List.of(sent)).counted());
    List<Received> received = tck.await(r -> !r.isEmpty());
    assertThat(received).as("what arrived of one message").hasSize(1);
    Received came = received.get(0);
    OutboxMessage message = sent.message();
    assertThat(came.key()).as("the key that arrived").isEqualTo(message.recordKey());
    assertThat(came.payload()).as("the payload that arrived").isEqualTo(message.payload());
    Map<Attribute, String> arrived = attributes(came);
    Map<Attribute, String> given =
        attributes(Received.of(null, new byte[0], List.of()).about(sent));
    assertThat(arrived.keySet()).as("which attributes arrived").isEqualTo(given.keySet());
    given.forEach(
        (attribute, value) ->
            assertThat(arrived.get(attribute))
                .as("the attribute %s that arrived", attribute)
                .isEqualTo(value));
    if (!message.headers().isEmpty()) {
      assertThat(came.headers())
          .as("the message's own headers, in their order and with repeats")
          .containsSubsequence(message.headers());
    }
  }

  /** With CREATED_AT in one form, if it is a time. */
  private static Map<Attribute, String> attributes(Received received) {
    Map<Attribute, String> attributes = new EnumMap<>(Attribute.class);
    attributes.putAll(received.attributes());
    attributes.computeIfPresent(
        Attribute.CREATED_AT,
        (attribute, text) -> {
          try {
            return Instant.parse(text).toString();
          } catch (DateTimeParseException e) {
            return text;
          }
        });
    return attributes;
  }
}
