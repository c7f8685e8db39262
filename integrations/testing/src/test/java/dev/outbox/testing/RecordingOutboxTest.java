package dev.outbox.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
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

  /** As a table: a transaction sees its own, others see what is committed. */
  @Nested
  class Joining {
    private final Object mine = new Object();
    private final Object other = new Object();
    private Object current;
    private final RecordingOutbox<Object> outbox = RecordingOutbox.joining(() -> current);

    private void append(Object transaction, String event) {
      outbox.append(transaction, message("1", event).build());
    }

    private void assertSeenBy(Object transaction, String... events) {
      current = transaction;
      assertThat(outbox.messages()).extracting(OutboxMessage::eventType).containsExactly(events);
    }

    @Test
    void othersSeeItAfterTheCommit() {
      append(mine, "a");
      append(other, "b");
      append(mine, "c");
      assertSeenBy(mine, "a", "c");
      assertSeenBy(other, "b");
      assertSeenBy(null);
      outbox.committed(mine);
      assertSeenBy(other, "a", "b", "c");
      assertSeenBy(null, "a", "c");
      outbox.committed(other);
      assertSeenBy(null, "a", "b", "c");
    }

    @Test
    void nobodySeesItAfterTheRollback() {
      append(mine, "a");
      append(other, "b");
      outbox.committed(other);
      outbox.rolledBack(mine);
      assertSeenBy(mine, "b");
      assertSeenBy(null, "b");
    }

    @Test
    void aSavepointKeepsWhatWasBeforeIt() {
      append(other, "x");
      append(mine, "a");
      int before = outbox.pending(mine).size();
      append(mine, "b");
      append(mine, "c");
      outbox.rolledBack(mine, before);
      append(mine, "d");
      assertSeenBy(mine, "a", "d");
      assertSeenBy(other, "x");
    }

    @Test
    void aDedupKeyIsFreeAfterTheRollback() {
      OutboxMessage message = message("1", "a").dedupKey("x").build();
      outbox.append(mine, message);
      outbox.rolledBack(mine);
      assertThat(outbox.append(other, message).allStored()).isTrue();
      outbox.committed(other);
      assertThat(outbox.append(mine, message).allStored()).isFalse();
    }

    @Test
    void withoutATransactionItIsRefused() {
      assertThatThrownBy(() -> append(null, "a"))
          .isInstanceOf(NoTransactionException.class)
          .hasMessageContaining("transaction is null");
    }
  }
}
