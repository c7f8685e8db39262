package dev.outbox.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ResultTest {
  private static final StoredMessage EARLIER =
      StoredMessage.of(
          7,
          0,
          Instant.EPOCH,
          OutboxMessage.builder()
              .aggregate("order", "o-1")
              .eventType("OrderPlaced")
              .payload("{}")
              .build());

  private static Result.Unavailable unavailable(@Nullable String destination) {
    return new Result.Unavailable(
        "not sent, because message 7 of its key was not delivered", destination);
  }

  private static @Nullable String answer(Supplier<String> answer) {
    return ((Result.Delivered) Result.delivered(answer)).answer();
  }

  @Test
  @DisplayName("a broker's answer is asked for late, cleaned, and never fails")
  void answers() {
    assertThat(((Result.Delivered) Result.delivered()).answer()).isNull();
    assertThat(answer(() -> "orders-3@1742")).isEqualTo("orders-3@1742");
    assertThat(answer(() -> "\u0000")).isEqualTo("\uFFFD");
    assertThat(answer(() -> "\u0000\uD800".repeat(5 * ErrorText.MAX)))
        .isEqualTo("\uFFFD".repeat(ErrorText.MAX));
    assertThat(answer(() -> "")).as("no text").isNull();
    assertThat(answer(() -> null)).as("a source that has none").isNull();
    assertThat(
            answer(
                () -> {
                  throw new IllegalStateException("closed");
                }))
        .isEqualTo("the answer cannot be told: java.lang.IllegalStateException");
    assertThat(
            answer(
                () -> {
                  throw new NoClassDefFoundError("RecordMetadata");
                }))
        .as("a class that is no longer there")
        .isEqualTo("the answer cannot be told: java.lang.NoClassDefFoundError");
    Result asked =
        Result.delivered(
            () -> {
              throw new AssertionError("was asked");
            });
    assertThat(asked).hasToString("Delivered[]");
  }

  @Test
  @DisplayName("delivered is delivered, whatever the broker answered")
  void equalWhateverTheAnswer() {
    assertThat(Result.delivered(() -> "orders-3@1742"))
        .isEqualTo(Result.delivered())
        .hasSameHashCodeAs(Result.delivered())
        .isNotEqualTo(Result.failed("no"));
    assertThat(Decision.delivered((Result.Delivered) Result.delivered(() -> "orders-3@1742")))
        .isEqualTo(Decision.delivered());
  }

  @Test
  @DisplayName("what waits for an unavailable message is unavailable with it")
  void unavailableWithIt() {
    assertThat(Result.notSent(EARLIER, Result.unavailable("away"), "orders"))
        .as("the whole broker is away")
        .isEqualTo(unavailable(null));
    assertThat(Result.notSent(EARLIER, Result.unavailable("away", "queue"), "orders"))
        .as("a destination is away")
        .isEqualTo(unavailable("queue"));
  }

  @Test
  @DisplayName("what waits for a failed or rejected message is unavailable at its own place")
  void unavailableAtItsPlace() {
    assertThat(Result.notSent(EARLIER, Result.failed("no"), "orders"))
        .isEqualTo(unavailable("orders"));
    assertThat(Result.notSent(EARLIER, Result.rejected("never"), "orders"))
        .isEqualTo(unavailable("orders"));
  }
}
