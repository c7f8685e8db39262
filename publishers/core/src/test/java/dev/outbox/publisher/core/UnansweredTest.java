package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class UnansweredTest {
  private final AtomicLong now = new AtomicLong();
  private final Unanswered unanswered = new Unanswered(now::get);
  private final UUID id = UUID.randomUUID();
  private final StoredMessage message = message(1, "{}");
  private final CompletableFuture<Result> answer = new CompletableFuture<>();

  private StoredMessage message(long sequence, String payload) {
    return StoredMessage.of(
        sequence,
        0,
        Instant.EPOCH,
        OutboxMessage.builder()
            .id(id)
            .aggregate("order", "o-1")
            .eventType("OrderPlaced")
            .payload(payload)
            .build());
  }

  private Duration again(Result result) {
    return ((Result.Unavailable) result).again();
  }

  @Test
  @DisplayName("a message without an answer is asked for more and more seldom")
  void open() {
    assertThat(again(unanswered.leave(message, "host", answer))).isEqualTo(Unanswered.FIRST);
    now.addAndGet(Duration.ofSeconds(4).toNanos());
    assertThat(unanswered.of(message))
        .isEqualTo(
            new Result.Unavailable(
                "sent to host, which has not answered yet", "host", Duration.ofSeconds(2)));
    now.addAndGet(Duration.ofHours(4).toNanos());
    assertThat(again(unanswered.of(message))).isEqualTo(Unanswered.LONGEST);
  }

  @Test
  @DisplayName("its answer is its result, once, and for nothing that differs from it")
  void answered() {
    var unused = unanswered.leave(message, "host", answer);
    answer.complete(Result.failed("500"));
    assertThat(unanswered.of(message(2, "{}"))).as("another sequence").isNull();
    assertThat(unanswered.of(message(1, "[]"))).as("changed by hand").isNull();
    assertThat(unanswered.of(message)).isEqualTo(Result.failed("500"));
    assertThat(unanswered.of(message)).isNull();
  }

  @Test
  @DisplayName("an outage is an answer, or nobody would hear of it; an error is none")
  void unavailable() {
    var unused = unanswered.leave(message, "host", answer);
    answer.complete(Result.unavailable("timed out"));
    assertThat(unanswered.of(message)).isEqualTo(Result.unavailable("timed out"));
    assertThat(unanswered.of(message)).as("sent again").isNull();
    CompletableFuture<Result> failed = new CompletableFuture<>();
    unused = unanswered.leave(message, "host", failed);
    failed.completeExceptionally(new IllegalStateException());
    assertThat(unanswered.of(message)).isNull();
  }

  @Test
  @DisplayName("answers that nobody asks for are forgotten, and there are no more than so many")
  void bounds() {
    for (int i = 0; i < Unanswered.MOST + 10; i++) {
      var unused = unanswered.leave(message(i, "{}"), "host", answer);
    }
    answer.complete(Result.delivered());
    assertThat(unanswered.size()).isEqualTo(Unanswered.MOST);
    now.addAndGet(Unanswered.KEEP.toNanos() + 1);
    var unused = unanswered.leave(message, "host", new CompletableFuture<>());
    assertThat(unanswered.size()).isOne();
    now.addAndGet(Unanswered.KEEP.toNanos() + 1);
    assertThat(unanswered.of(message)).as("still on its way").isNotNull();
  }
}
