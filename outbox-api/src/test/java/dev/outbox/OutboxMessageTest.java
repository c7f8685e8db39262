package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A message")
class OutboxMessageTest {

  private static OutboxMessage.Builder valid() {
    return OutboxMessage.builder().aggregate("order", "1").eventType("Placed").payload("{}");
  }

  private static OutboxMessage.Builder with(String field, String value) {
    OutboxMessage.Builder b = valid();
    return switch (field) {
      case "aggregateType" -> b.aggregateType(value);
      case "aggregateId" -> b.aggregateId(value);
      case "eventType" -> b.eventType(value);
      case "partitionKey" -> b.partitionKey(value);
      case "contentType" -> b.contentType(value);
      case "dedupKey" -> b.dedupKey(value);
      case "correlationId" -> b.correlationId(value);
      case "a header's name" -> b.header(value, "v");
      default -> throw new IllegalArgumentException(field);
    };
  }

  @ParameterizedTest
  @CsvSource({
    "aggregateType",
    "aggregateId",
    "eventType",
    "partitionKey",
    "contentType",
    "dedupKey",
    "correlationId",
    "a header's name"
  })
  @DisplayName("takes texts up to the limit in code points, and says what is over it")
  void texts(String field) {
    String emoji = "\uD83D\uDE00".repeat(OutboxMessage.MAX_TEXT);
    assertThat(with(field, emoji).build()).isNotNull();
    refused(
        with(field, emoji + "x"), field + " has 256 characters, at most 255 are allowed: shorten");
    refused(with(field, " \t"), field + " is blank: give it at least one visible character");
    refused(with(field, "a\0b"), field + " has a NUL at index 1");
    refused(with(field, "a\uD83D"), field + " has half a surrogate pair at index 1");
    refused(with(field, "\uDE00a"), field + " has half a surrogate pair at index 0");
  }

  private static void refused(OutboxMessage.Builder builder, String beginning) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageStartingWith(beginning);
  }

  @Test
  @DisplayName("says which required field is missing")
  void missing() {
    refused(OutboxMessage.builder(), "aggregateType is missing");
    refused(valid().id(null), "id is null");
    refused(
        OutboxMessage.builder().aggregate("order", "1").eventType("Placed"), "payload is missing");
  }

  @Test
  @DisplayName("can be begun again with all that it has")
  void copied() {
    OutboxMessage message =
        valid()
            .partitionKey("k")
            .contentType("text/plain")
            .header("a", "1")
            .dedupKey("d")
            .correlationId("c")
            .availableAt(Instant.parse("2026-11-20T08:09:10Z"))
            .expiresAt(Instant.parse("2026-11-20T08:09:11Z"))
            .maxAttempts(3)
            .build();
    assertThat(message.toBuilder().build()).isEqualTo(message);
    OutboxMessage delayed =
        valid()
            .unordered()
            .deliverAfter(Duration.ofHours(1))
            .expireAfter(Duration.ofHours(2))
            .build();
    assertThat(delayed.toBuilder().build()).isEqualTo(delayed);
    assertThat(message.toBuilder().header("a", "2").build().headers()).hasSize(2);
    assertThat(message.headers()).hasSize(1);
  }

  @Test
  @DisplayName("takes a payload up to the limit, also an empty one, and keeps it for itself")
  void payload() {
    byte[] bytes = new byte[OutboxMessage.MAX_PAYLOAD];
    OutboxMessage message = valid().payload(bytes).build();
    bytes[0] = 1;
    message.payload()[1] = 1;
    assertThat(message.payload()).isEqualTo(new byte[OutboxMessage.MAX_PAYLOAD]);
    assertThat(valid().payload(new byte[0]).build().payloadSize()).isZero();
    refused(
        valid().payload(new byte[OutboxMessage.MAX_PAYLOAD + 1]),
        "payload has 1000001 bytes, at most 1000000 are allowed: store it elsewhere");
  }

  @Test
  @DisplayName("takes headers up to their limits, with order and repeats")
  void headers() {
    List<Header> two = List.of(new Header("a", "1"), new Header("a", "2"));
    assertThat(valid().header("a", "1").header("a", "2").build().headers()).isEqualTo(two);
    assertThat(valid().header("a", "x".repeat(OutboxMessage.MAX_HEADERS - 1)).build()).isNotNull();
    refused(
        valid().header("a", "x".repeat(OutboxMessage.MAX_HEADERS)),
        "headers have 16001 bytes, at most 16000 are allowed");
    Header large = new Header("a", "x".repeat(Integer.MAX_VALUE / OutboxMessage.MAX_HEADER_COUNT));
    refused(
        valid().addHeaders(Collections.nCopies(OutboxMessage.MAX_HEADER_COUNT, large)),
        "headers have 2147483700 bytes, at most 16000 are allowed");
    OutboxMessage.Builder many = valid();
    for (int i = 0; i < OutboxMessage.MAX_HEADER_COUNT; i++) {
      many.header("h" + i, "");
    }
    assertThat(many.build().headers()).hasSize(OutboxMessage.MAX_HEADER_COUNT);
    refused(many.header("more", ""), "there are 101 headers, at most 100 are allowed");
  }

  @Test
  @DisplayName("takes one way to expire, within the bounds of a delay")
  void expiry() {
    Instant nanos = Instant.parse("2030-01-01T00:00:00.123456789Z");
    assertThat(valid().expiresAt(nanos).build().expiresAt())
        .isEqualTo("2030-01-01T00:00:00.123456Z");
    assertThat(valid().expireAfter(OutboxMessage.MAX_DELAY).build().expireAfter())
        .isEqualTo(OutboxMessage.MAX_DELAY);
    refused(valid().expireAfter(OutboxMessage.MAX_DELAY.plusNanos(1)), "expireAfter is ");
    refused(valid().expiresAt(Instant.EPOCH.minusNanos(1)), "expiresAt is ");
    refused(
        valid().expiresAt(nanos).expireAfter(Duration.ZERO),
        "expiresAt and expireAfter are both given");
    Duration delay = Duration.ofHours(1);
    refused(
        valid().deliverAfter(delay).expireAfter(delay),
        "expireAfter is 1h and deliverAfter 1h, so it would never be delivered");
    assertThat(valid().deliverAfter(delay).expireAfter(delay.plusNanos(1)).build().expireAfter())
        .isGreaterThan(delay);
  }

  @Test
  @DisplayName("as a store has it, its delay and its expiry are times from the append on")
  void appendedAt() {
    Instant now = Instant.parse("2030-01-01T00:00:00Z");
    OutboxMessage plain = valid().availableAt(now).expiresAt(now).build();
    assertThat(plain.appendedAt(now)).isSameAs(plain);
    OutboxMessage.Builder both = valid().unordered().dedupKey("d");
    assertThat(
            both.deliverAfter(Duration.ofHours(1))
                .expireAfter(Duration.ofHours(2))
                .build()
                .appendedAt(now))
        .isEqualTo(
            both.deliverAfter(null)
                .expireAfter(null)
                .availableAt(Instant.parse("2030-01-01T01:00:00Z"))
                .expiresAt(Instant.parse("2030-01-01T02:00:00Z"))
                .build());
  }

  @Test
  @DisplayName("takes one way to be delayed, within bounds, to the microsecond")
  void delays() {
    Instant nanos = Instant.parse("2030-01-01T00:00:00.123456789Z");
    assertThat(valid().availableAt(nanos).build().availableAt())
        .isEqualTo("2030-01-01T00:00:00.123456Z");
    assertThat(valid().deliverAfter(OutboxMessage.MAX_DELAY).build().deliverAfter())
        .isEqualTo(OutboxMessage.MAX_DELAY);
    refused(valid().deliverAfter(OutboxMessage.MAX_DELAY.plusNanos(1)), "deliverAfter is ");
    refused(valid().deliverAfter(Duration.ofNanos(-1)), "deliverAfter is ");
    refused(valid().availableAt(Instant.EPOCH.minusNanos(1)), "availableAt is ");
    refused(valid().availableAt(Instant.parse("9999-01-01T00:00:00Z")), "availableAt is ");
    refused(
        valid().availableAt(nanos).deliverAfter(Duration.ZERO),
        "availableAt and deliverAfter are both given");
  }

  @Test
  @DisplayName("has the partition key as key, or else the aggregate's type and id, or its own id")
  void key() {
    assertThat(valid().build().key()).isEqualTo("order/1");
    assertThat(valid().partitionKey("customer").build().key()).isEqualTo("customer");
    OutboxMessage unordered = valid().unordered().build();
    assertThat(unordered.key()).isEqualTo(unordered.id().toString());
  }

  @Test
  @DisplayName("has the partition key as record key, or else the aggregate's id, or its own id")
  void recordKey() {
    assertThat(valid().build().recordKey()).isEqualTo("1");
    assertThat(valid().partitionKey("customer").build().recordKey()).isEqualTo("customer");
    OutboxMessage unordered = valid().unordered().build();
    assertThat(unordered.recordKey()).isEqualTo(unordered.id().toString());
  }

  @Test
  @DisplayName("does not show payload and headers as a text")
  void secrets() {
    OutboxMessage message = valid().payload("secret-1").header("h", "secret-2").build();
    assertThat(message.toString()).doesNotContain("secret").contains(message.id().toString());
  }

  @Test
  @DisplayName("equals one with the same fields, and none that differs in one")
  void equality() {
    OutboxMessage message = valid().build();
    UnaryOperator<OutboxMessage.Builder> same =
        b -> b.id(message.id()).aggregate("order", "1").eventType("Placed").payload("{}");
    assertThat(same.apply(OutboxMessage.builder()).build()).isEqualTo(message);
    assertThat(same.apply(OutboxMessage.builder()).payload("").build()).isNotEqualTo(message);
    assertThat(same.apply(OutboxMessage.builder()).header("a", "").build()).isNotEqualTo(message);
  }
}
