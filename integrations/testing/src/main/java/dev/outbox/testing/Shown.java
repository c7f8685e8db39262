package dev.outbox.testing;

import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
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
    String shown =
        Texts.utf8(message.payload())
            .map(Shown::shortened)
            .orElseGet(() -> "with %s bytes that are no text".formatted(message.payloadSize()));
    return message.contentType() + " " + shown;
  }

  private static String shortened(String text) {
    return text.length() > LONGEST
        ? "%s… (%s characters)".formatted(text.substring(0, LONGEST), text.length())
        : text;
  }
}
