package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The headers of a record")
class AttributesTest {
  private static final UUID ID = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");

  private static final StoredMessage MESSAGE =
      StoredMessage.of(
          42,
          0,
          Instant.parse("2026-11-20T08:09:10.123456Z"),
          OutboxMessage.builder()
              .id(ID)
              .aggregate("order", "4711")
              .eventType("OrderPlaced")
              .payload("{}")
              .header("b", "1")
              .header("a", "2")
              .header("b", "3")
              .dedupKey("d")
              .build());

  private static List<String> headers(URI cloudEventsSource) {
    List<String> headers = new ArrayList<>();
    Attributes.forEachHeader(
        MESSAGE, cloudEventsSource, (name, value) -> headers.add(name + "=" + value));
    return headers;
  }

  @Test
  @DisplayName("are the message's own in their order, then ours")
  void order() {
    assertThat(headers(null))
        .containsExactly(
            "b=1",
            "a=2",
            "b=3",
            "outbox-id=" + ID,
            "outbox-aggregate-type=order",
            "outbox-aggregate-id=4711",
            "outbox-event-type=OrderPlaced",
            "content-type=application/json",
            "outbox-created-at=2026-11-20T08:09:10.123456Z",
            "outbox-sequence=42",
            "outbox-dedup-key=d");
  }

  @Test
  @DisplayName("of a CloudEvent come between the two")
  void cloudEvent() {
    assertThat(headers(URI.create("https://shop.example")))
        .containsSubsequence(
            "b=3", "ce_specversion=1.0", "ce_source=https://shop.example", "outbox-id=" + ID)
        .hasSize(18);
  }
}
