package dev.outbox.relay;

import static dev.outbox.relay.Samples.damaged;
import static dev.outbox.relay.Samples.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.outbox.OutboxMessage;
import dev.outbox.relay.RelayEvent.DeadLetterReason;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BatchTest {
  private static final RetryPolicy POLICY =
      RetryPolicy.builder().random(() -> 0).maxAttempts(3).build();
  private static final Decision OK = Decision.delivered();

  private final Recorder events = new Recorder();
  private Set<String> halting = Set.of();

  private Batch batch(StoredMessage... messages) {
    Verdicts verdicts = new Verdicts("relay/0", POLICY, halting, new Destinations(), events);
    return new Batch(
        List.of(messages), verdicts, new OperatorPauses("relay", null, events, System::nanoTime));
  }

  private static Decision retry(long ms, String error) {
    return Decision.retry(Duration.ofMillis(ms), error);
  }

  private Batch one(int attempts, Result result) {
    Batch batch = batch(stored(1, "a", attempts));
    batch.published(List.of(result), 0);
    return batch;
  }

  @Test
  @DisplayName("a broker's answer goes on to the store, which alone may ask for it")
  void answerGoesOn() {
    List<String> asked = new ArrayList<>();
    Result delivered =
        Result.delivered(
            () -> {
              asked.add("asked");
              return "orders-3@1742";
            });
    Decision decision = one(0, delivered).decisions().get(1L);
    assertThat(asked).as("asked by the relay").isEmpty();
    assertThat(((Decision.Delivered) decision).answer()).isEqualTo("orders-3@1742");
  }

  @Test
  void eachResultHasItsDecision() {
    assertThat(one(0, Result.delivered()).decisions()).containsOnly(entry(1L, OK));
    assertThat(one(0, Result.failed("x")).decisions()).containsOnly(entry(1L, retry(100, "x")));
    assertThat(one(1, Result.failed("x")).decisions()).containsOnly(entry(1L, retry(200, "x")));
    assertThat(one(2, Result.failed("x")).decisions()).containsOnly(entry(1L, Decision.dead("x")));
    assertThat(one(0, Result.rejected("x")).decisions())
        .containsOnly(entry(1L, Decision.dead("x")));
    assertThat(one(2, Result.unavailable("x", "topic")).decisions())
        .containsOnly(entry(1L, Decision.retryUncounted(Duration.ofMillis(500), "x")));
    assertThat(one(2, Result.unavailable("x")).decisions()).isEmpty();
  }

  @Test
  void aDeadLetterHasItsReason() {
    assertThat(reason(one(0, Result.rejected("x")))).isEqualTo(DeadLetterReason.REJECTED);
    assertThat(reason(one(2, Result.failed("x")))).isEqualTo(DeadLetterReason.EXHAUSTED);
    assertThat(reason(batch(stored(1, "a", 3)))).isEqualTo(DeadLetterReason.EXHAUSTED);
    assertThat(reason(batch(damaged(1, "a", 2)))).isEqualTo(DeadLetterReason.UNDECODABLE);
  }

  private static DeadLetterReason reason(Batch batch) {
    List<RelayEvent> told = new ArrayList<>();
    batch.tell(told::add, "relay/0");
    assertThat(told).hasSize(1);
    return ((RelayEvent.DeadLettered) told.get(0)).reason();
  }

  @Test
  void aMessagesOwnMostAttemptsCount() {
    for (int most : List.of(1, 5)) {
      for (int attempts = 0; attempts < 6; attempts++) {
        OutboxMessage message = Samples.builder("a", "1").maxAttempts(most).build();
        Batch batch = batch(StoredMessage.of(1, attempts, Instant.EPOCH, message));
        if (attempts < most) {
          batch.published(List.of(Result.failed("x")), 0);
        }
        assertThat(batch.decisions().get(1L))
            .as("after attempt %d of %d", attempts + 1, most)
            .isInstanceOf(attempts + 1 < most ? Decision.Retry.class : Decision.Dead.class);
      }
    }
  }

  @Test
  void saysWhatTheBreakerNeeds() {
    assertThat(one(0, Result.unavailable("x")).brokerError()).isEqualTo("x");
    assertThat(one(0, Result.unavailable("x", "topic")).brokerError()).isNull();
    assertThat(one(0, Result.delivered()).delivered()).isTrue();
    assertThat(one(0, Result.failed("x")).delivered()).isFalse();
    assertThat(one(0, Result.failed("x")).answered()).isTrue();
    assertThat(batch(stored(1, "a")).answered()).isFalse();
    Batch later = one(0, new Result.Unavailable("its turn", "limit", Duration.ofSeconds(1)));
    assertThat(later.answered()).isFalse();
    assertThat(later.postponed()).isTrue();
  }

  @Test
  void whatCannotBeDecodedIsNotPublishedAndDeadAtOnce() {
    Batch batch =
        batch(
            stored(1, "a"), damaged(2, "a", 0), stored(3, "a"), stored(4, "b"), damaged(5, "c", 2));
    assertThat(batch.publishable()).extracting(StoredMessage::sequence).containsExactly(1L, 4L);
    batch.published(List.of(OK_RESULT, OK_RESULT), 0);
    assertThat(batch.decisions())
        .containsOnly(
            entry(1L, OK),
            entry(2L, Decision.dead("headers are not JSON")),
            entry(4L, OK),
            entry(5L, Decision.dead("headers are not JSON")));
  }

  @Test
  void whatHasExpiredIsNotPublishedAndItsKeyGoesOn() {
    Batch batch =
        batch(
            stored(1, "a").asExpired(),
            stored(2, "a"),
            stored(3, "a").asExpired(),
            damaged(4, "b", 0).asExpired(),
            stored(5, "c", 99).asExpired());
    assertThat(batch.publishable()).extracting(StoredMessage::sequence).containsExactly(2L);
    batch.published(List.of(Result.failed("x")), 0);
    assertThat(batch.decisions())
        .containsOnly(
            entry(1L, Decision.expired()),
            entry(2L, retry(100, "x")),
            entry(3L, Decision.expired()),
            entry(4L, Decision.dead("headers are not JSON")),
            entry(5L, Decision.expired()));
    batch.tell(events, "relay/0");
    assertThat(events.of("expired")).containsExactly("expired 1", "expired 3", "expired 5");
  }

  private static final Result OK_RESULT = Result.delivered();

  @Test
  void whatHasUsedUpItsAttemptsIsNotPublished() {
    Batch batch = batch(stored(1, "a", 3), stored(2, "a"));
    assertThat(batch.publishable()).isEmpty();
    assertThat(batch.decisions())
        .containsOnly(
            entry(1L, Decision.dead("gave up after 3 attempts; the last ended without a result")));
  }

  @Test
  void onlyTheFirstUndeliveredMessageOfAKeyGetsADecision() {
    Batch batch = batch(stored(1, "a"), stored(2, "a"), stored(3, "a"), stored(4, "b"));
    batch.published(
        List.of(OK_RESULT, Result.failed("x"), Result.failed("after x"), Result.rejected("y")), 0);
    assertThat(batch.decisions())
        .containsOnly(entry(1L, OK), entry(2L, retry(100, "x")), entry(4L, Decision.dead("y")));
    assertThat(batch.overtaking()).isEmpty();
  }

  @Test
  void whatOvertookAnUndeliveredMessageIsNotTakenAsDelivered() {
    Batch batch = batch(stored(1, "a"), stored(2, "b"), stored(3, "a"), stored(4, "a"));
    batch.published(List.of(Result.unavailable("x", "topic"), OK_RESULT, OK_RESULT, OK_RESULT), 0);
    assertThat(batch.decisions()).containsOnlyKeys(1L, 2L);
    assertThat(batch.overtaking()).extracting(StoredMessage::sequence).containsExactly(3L, 4L);
  }

  @Test
  void aMissingResultStopsItsKeyToo() {
    Batch batch = batch(stored(1, "a"), stored(2, "a"), stored(3, "b"));
    batch.published(Arrays.asList(null, OK_RESULT, OK_RESULT), 0);
    assertThat(batch.decisions()).containsOnly(entry(3L, OK));
    assertThat(batch.overtaking()).hasSize(1);
  }

  @Test
  void aggregateTypesMayBlockTheirKeysAlsoOfWhatCannotBeDecoded() {
    assertBlocks("order", Set.of("order"), true);
    assertBlocks("order", Set.of("other"), false);
    assertBlocks("order", Set.of(), false);
  }

  @Test
  void aRowWithoutATypeBlocksItsKeyWhereSomeTypesDo() {
    assertThat(undecodable(null, Set.of("other"))).isEqualTo(Decision.deadHaltingKey("damaged"));
    assertThat(undecodable(null, Set.of())).isEqualTo(Decision.dead("damaged"));
  }

  private void assertBlocks(String type, Set<String> types, boolean halts) {
    assertThat(undecodable(type, types))
        .isEqualTo(halts ? Decision.deadHaltingKey("damaged") : Decision.dead("damaged"));
    assertThat(one(0, Result.rejected("x")).decisions().get(1L))
        .isEqualTo(halts ? Decision.deadHaltingKey("x") : Decision.dead("x"));
  }

  private Decision undecodable(String type, Set<String> types) {
    halting = types;
    return batch(StoredMessage.undecodable(1, "a", type, 0, Instant.EPOCH, "damaged"))
        .decisions()
        .get(1L);
  }

  @Test
  void lostMessagesLoseTheirDecision() {
    Batch batch = batch(stored(1, "a"), stored(2, "b"));
    batch.published(List.of(OK_RESULT, OK_RESULT), 0);
    assertThat(batch.lost(Set.of(2L, 99L))).extracting(StoredMessage::sequence).containsExactly(2L);
    assertThat(batch.decisions()).containsOnlyKeys(1L);
    batch.tell(events, "relay/0");
    assertThat(events.all()).containsExactly("delivered 1");
  }
}
