package dev.outbox.spi.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
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

  @Test
  @DisplayName(
      "none lacks what it is about: without a decision the message would come again and again")
  void complete() {
    assertThatNullPointerException().isThrownBy(() -> new Result.Delivered(null));
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
