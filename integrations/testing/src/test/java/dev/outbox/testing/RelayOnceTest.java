package dev.outbox.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RelayOnceTest {
  private final MemoryOutboxStore store = new MemoryOutboxStore();
  private final RecordingPublisher publisher = new RecordingPublisher();

  private void append(String key, String... events) {
    for (String event : events) {
      store.inTransaction(
          t ->
              store.append(
                  t,
                  OutboxMessage.builder()
                      .aggregate("order", key)
                      .eventType(event)
                      .payload("{}")
                      .build()));
    }
  }

  private void answer(String event, Result result) {
    publisher.answer(m -> m.message().eventType().equals(event) ? result : Result.delivered());
  }

  @Test
  void deliversEverythingThatIsDue() {
    append("1", "a", "b");
    append("2", "c");
    RelayOnce.Outcome outcome = RelayOnce.run(store, publisher);
    assertThat(outcome.delivered()).hasSize(3);
    assertThat(outcome.retried()).isEmpty();
    assertThat(outcome.dead()).isEmpty();
    assertThat(outcome.unavailable()).isEmpty();
    assertThat(publisher.delivered().stream().filter(m -> m.key().equals("order/1")))
        .extracting(m -> m.message().eventType())
        .containsExactly("a", "b");
    assertThat(RelayOnce.run(store, publisher).delivered()).isEmpty();
  }

  @Test
  void saysWhatExpired() {
    store.inTransaction(
        transaction -> {
          OutboxMessage.Builder message =
              OutboxMessage.builder().aggregate("order", "1").eventType("offer").payload("{}");
          store.append(transaction, message.expireAfter(Duration.ZERO).build());
        });
    append("1", "after");
    RelayOnce.Outcome outcome = RelayOnce.run(store, publisher);
    assertThat(outcome.expired()).extracting(m -> m.message().eventType()).containsExactly("offer");
    assertThat(publisher.delivered())
        .extracting(m -> m.message().eventType())
        .containsExactly("after");
    assertThat(outcome.dead()).isEmpty();
  }

  @Test
  void saysWhatFailed() {
    append("1", "bad", "after");
    append("2", "good");
    answer("bad", Result.failed("x"));
    RelayOnce.Outcome outcome = RelayOnce.run(store, publisher);
    assertThat(outcome.delivered()).extracting(StoredMessage::key).containsExactly("order/2");
    assertThat(outcome.retried()).extracting(StoredMessage::key).containsExactly("order/1");
  }

  @Test
  void saysWhatIsDeadAndDeliversWhatCameAfterIt() {
    append("1", "bad", "after");
    answer("bad", Result.rejected("x"));
    RelayOnce.Outcome outcome = RelayOnce.run(store, publisher);
    assertThat(outcome.dead()).hasSize(1);
    assertThat(outcome.delivered())
        .extracting(m -> m.message().eventType())
        .containsExactly("after");
  }

  @Test
  void endsWhenTheBrokerCannotBeReached() {
    append("1", "a");
    answer("a", Result.unavailable("no broker"));
    assertThat(RelayOnce.run(store, publisher).unavailable()).hasSize(1);
    publisher.clear();
    assertThat(RelayOnce.run(store, publisher).delivered())
        .singleElement()
        .satisfies(m -> assertThat(m.attempts()).isZero());
  }

  @Test
  void takesSettings() {
    append("1", "a");
    answer("a", Result.failed("x"));
    RetryPolicy once = RetryPolicy.builder().maxAttempts(1).build();
    assertThat(RelayOnce.run(Relay.builder(store, publisher).retryPolicy(once)).dead()).hasSize(1);
  }

  @Test
  void runsAgainWithTheSameSettings() {
    RelayOnce relay = RelayOnce.with(() -> Relay.builder(store, publisher).workers(1));
    append("1", "a");
    assertThat(relay.run().delivered()).hasSize(1);
    append("1", "b");
    relay.run();
    assertThat(publisher).hasDeliveredExactly("a", "b").hasDelivered("b").withKey("order/1");
    publisher.clear();
    assertThat(publisher).hasDeliveredNothing().hasNotDelivered("a");
    assertThatThrownBy(() -> assertThat(publisher).hasDelivered("a"))
        .hasMessageContaining("Nothing was delivered.");
  }

  @Test
  void throwsWhatTheStoreThrew() {
    MemoryOutboxStore broken =
        new MemoryOutboxStore() {
          @Override
          public Claim claim(Claim.Request request) {
            throw new PermanentOutboxException("no such table");
          }
        };
    assertThatThrownBy(() -> RelayOnce.run(broken, publisher)).hasMessage("no such table");
  }

  @Test
  void anAnswerOfNullIsTheTestsFault() {
    append("1", "a");
    publisher.answer(m -> null);
    assertThat(RelayOnce.run(store, publisher).retried()).hasSize(1);
  }
}
