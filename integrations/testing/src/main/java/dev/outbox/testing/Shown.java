package dev.outbox.testing;

import dev.outbox.OutboxMessage;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A message in full, for the failure of a test: {@code toString} hides what may be secret. */
final class Shown {
  private static final int LONGEST = 1_000;

  private Shown() {}

  static String message(OutboxMessage message) {
    return "%s of %s %s, key %s%s%s%s%s%s%s%s%s, %s"
        .formatted(
            message.eventType(),
            message.aggregateType(),
            message.aggregateId(),
            message.key(),
            headers(message),
            given("dedup key", message.dedupKey()),
            given("correlation id", message.correlationId()),
            given("delay", message.deliverAfter()),
            given("available at", message.availableAt()),
            given("expires after", message.expireAfter()),
            given("expires at", message.expiresAt()),
            given("attempts at most", message.maxAttempts()),
            payload(message));
  }

  private static String headers(OutboxMessage message) {
    return message.headers().stream()
        .map(header -> ", header %s=%s".formatted(header.name(), header.value()))
        .collect(Collectors.joining());
  }

  private static String given(String name, @Nullable Object value) {
    return value == null ? "" : ", %s %s".formatted(name, value);
  }

  private static String payload(OutboxMessage message) {
    try {
      String text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(message.payload())).toString();
      return "%s %s%s"
          .formatted(
              message.contentType(),
              text.substring(0, Math.min(LONGEST, text.length())),
              text.length() > LONGEST ? "… (%d characters)".formatted(text.length()) : "");
    } catch (CharacterCodingException e) {
      return "%s with %d bytes that are no text"
          .formatted(message.contentType(), message.payloadSize());
    }
  }
}
