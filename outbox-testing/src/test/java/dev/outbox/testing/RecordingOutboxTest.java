package dev.outbox.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecordingOutboxTest {
  private final RecordingOutbox<Object> outbox = new RecordingOutbox<>();

  private static OutboxMessage.Builder message(String key, String event) {
    return OutboxMessage.builder().aggregate("order", key).eventType(event).payload("{}");
  }

  @Test
  void keepsWhatIsAppendedInOrder() {
    OutboxMessage placed = message("1", "OrderPlaced").build();
    OutboxMessage paid = message("1", "OrderPaid").build();
    OutboxMessage other = message("2", "OrderPlaced").build();
    assertThat(outbox.append(null, List.of(placed, paid)).duplicates()).isEmpty();
    assertThat(outbox.append("a transaction", other).allStored()).isTrue();
    assertThat(outbox.messages()).containsExactly(placed, paid, other);
    assertThat(outbox.messages("OrderPlaced")).containsExactly(placed, other);
    assertThat(outbox.messagesOfKey("order/1")).containsExactly(placed, paid);
  }

  @Test
  void aRepeatedDedupKeyIsADuplicate() {
    OutboxMessage first = message("1", "a").dedupKey("x").build();
    OutboxMessage second = message("1", "b").dedupKey("x").build();
    assertThat(outbox.append(null, List.of(first, second)).duplicates())
        .containsExactly(second.id());
    assertThat(outbox.messages()).containsExactly(first);
    outbox.clear();
    assertThat(outbox.append(null, second).allStored()).isTrue();
  }

  @Test
  void failsWhenToldTo() {
    outbox.failWith(new IllegalStateException("no disk"));
    assertThatThrownBy(() -> outbox.append(null, message("1", "a").build())).hasMessage("no disk");
    assertThat(outbox.messages()).isEmpty();
    outbox.clear();
    outbox.append(null, message("1", "a").build());
    assertThat(outbox.messages()).hasSize(1);
  }

  @Test
  void losesNothingUnderManyThreads() {
    IntStream.range(0, 1_000)
        .parallel()
        .forEach(i -> outbox.append(null, message("key" + i, "a").build()));
    assertThat(outbox.messages()).hasSize(1_000);
  }
}
