package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The results of a call")
class OutcomeTest {
  private static final Result AWAY = Result.unavailable("away");

  /** With a destination that is known. */
  private static final class Run extends KeyRun<KeyRun.Item> {
    @Override
    protected Item newItem(int index, int position, StoredMessage message) {
      return new Item(index, position, message);
    }

    @Override
    protected String destination(Item item) {
      return "topic-" + item.message().sequence();
    }
  }

  private final List<StoredMessage> messages =
      List.of(message(0, "a"), message(1, "b"), message(2, "a"), message(3, "a"));
  private final Outcome<Run> outcome = new Outcome<>(messages, Run::new);
  private final Run a = outcome.runs().get(0);
  private final Run b = outcome.runs().get(1);

  private static StoredMessage message(long sequence, String key) {
    return StoredMessage.of(
        sequence,
        0,
        Instant.EPOCH,
        OutboxMessage.builder().aggregate("t", key).eventType("e").payload("").build());
  }

  @Test
  @DisplayName("stand at the places of their messages, whatever the order in which they come (P1)")
  void places() {
    outcome.delivered(b, Result.delivered());
    outcome.delivered(a, Result.delivered());
    assertThat(outcome.isComplete()).isFalse();
    assertThat(a.item(a.delivered()).message()).isEqualTo(messages.get(2));
    outcome.delivered(a, Result.delivered());
    outcome.decide(a, 2, Result.rejected("no"));
    assertThat(outcome.isComplete()).isTrue();
    assertThat(outcome.results())
        .containsExactly(
            Result.delivered(), Result.delivered(), Result.delivered(), Result.rejected("no"));
  }

  @Test
  @DisplayName("have none delivered behind one of their key that was not (P2)")
  void behind() {
    outcome.decide(a, 0, Result.failed("no"));
    assertThat(a.isOpen()).isFalse();
    assertThat(b.isOpen()).isTrue();
    outcome.decideAll(AWAY);
    Result notSent = Result.notSent(messages.get(0), Result.failed("no"), "topic-0");
    assertThat(outcome.results()).containsExactly(Result.failed("no"), AWAY, notSent, notSent);
    assertThat(outcome.isComplete()).isTrue();
  }

  @Test
  @DisplayName("are given once: what was decided stays, and what is before it may still come")
  void once() {
    outcome.decide(a, 1, Result.failed("first"));
    outcome.decide(a, 2, Result.failed("second"));
    outcome.decide(a, 1, Result.failed("third"));
    outcome.delivered(a, Result.delivered());
    outcome.decideAll(AWAY);
    Result notSent = Result.notSent(messages.get(2), Result.failed("first"), "topic-2");
    assertThat(outcome.results())
        .containsExactly(Result.delivered(), AWAY, Result.failed("first"), notSent);
  }
}
