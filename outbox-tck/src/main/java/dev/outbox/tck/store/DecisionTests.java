package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestMethodOrder;

/** S2 and S5: what each decision does. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Place(1)
@Rule("S2")
abstract class DecisionTests<T> extends StoreTests<T> {

  /** More than any relay makes before it gives up. */
  private static final int MANY_ATTEMPTS = 30;

  private static Decision at(Duration delay) {
    return Decision.retry(delay, "refused");
  }

  @Order(1) // it waits for nothing, whatever is deleted
  @Sentence("delivered: gone, and nothing else with it")
  void delivered() {
    committed("k", 2);
    Claim claim = claim();
    settleFirst(claim, Decision.delivered());
    assertThat(drain().stream().map(StoredMessage::sequence))
        .as("due after the first of two was delivered")
        .hasSize(1)
        .doesNotContain(first(claim).sequence());
    assertNothingDue("all delivered");
  }

  @Sentence("retry: not due before its delay, one more attempt if it counts, else the same")
  void retry() {
    committed("k", 1);
    Claim unsettled = claim();
    StoredMessage before = first(unsettled);
    release(unsettled);
    int attempts = 0;
    for (boolean counts : List.of(true, true, false, false, true)) {
      Claim claim = awaitClaim("the message after its retry delay");
      StoredMessage after = first(claim);
      expect("attempts of the claimed message", after.attempts()).isEqualTo(attempts);
      expect("sequence of the message", after.sequence()).isEqualTo(before.sequence());
      expect("key of the message", after.key()).isEqualTo(before.key());
      expect("createdAt", after.createdAt()).isEqualTo(before.createdAt());
      assertSame(after.message(), before.message());
      retryFirst(claim, tck.shortTime().dividedBy(10), counts);
      attempts += counts ? 1 : 0;
    }
    retryFirst(awaitClaim("the message after its retry delay"), LONG, false);
    assertNothingDue("due only after hours");
  }

  @Sentence("dead: never due again, listed with its error and one more attempt")
  void dead() {
    OutboxMessage message = committed(message("k").header("h", "v"));
    settle(claim(), at(Duration.ZERO));
    Claim claim = awaitClaim("the message after its retry");
    settle(claim, Decision.dead("too large for the broker"));
    assertNothingDue("settled as dead");
    List<DeadLetter> dead = listedDead();
    expect("the dead letters listed", dead).hasSize(1);
    DeadLetter letter = dead.get(0);
    assertSame(letter.message().message(), message);
    expect("sequence of the message", letter.message().sequence())
        .isEqualTo(first(claim).sequence());
    expect("attempts of the claimed message", letter.message().attempts()).isEqualTo(2);
    expect("error", letter.error()).isEqualTo("too large for the broker");
    expect("failedAt", letter.failedAt()).isNotNull();
  }

  @Sentence("no decision: exactly as it was")
  void noDecision() {
    List<OutboxMessage> messages = committed("k", 3);
    release(claim());
    Claim claim = claim();
    expect("the head of the key", id(first(claim))).isEqualTo(messages.get(0).id());
    expect("attempts of the claimed message", claim.messages()).allMatch(m -> m.attempts() == 0);
    settleFirst(claim, at(Duration.ZERO));
    Claim retried = awaitClaim("the head after its retry");
    release(retried);
    Claim again = awaitClaim("the head, given back");
    expect("the head of the key", first(again).sequence()).isEqualTo(first(retried).sequence());
    expect("attempts of the head", first(again).attempts()).isEqualTo(1);
    release(again);
    TakenOver claims = takenOver();
    expect("attempts after a crash", first(claims.current()).attempts()).isEqualTo(1);
  }

  @Sentence("head delivered, second retried, third delivered, fourth undecided: each as decided")
  void mixed() {
    List<OutboxMessage> messages = committed("k", 4);
    Claim claim = claimAtLeast(4);
    List<Long> sequences = sequences(claim);
    Decision delivered = Decision.delivered();
    claim.settle(
        Map.of(
            sequences.get(0), delivered,
            sequences.get(1), at(Duration.ZERO),
            sequences.get(2), delivered));
    Claim second = awaitClaim("the second message after its retry");
    expect("the head of the key", id(first(second))).isEqualTo(messages.get(1).id());
    expect("attempts of the second", first(second).attempts()).isEqualTo(1);
    requires(
        "O2",
        () -> assertCame("the retried message must come alone", second).inOrder(messages.get(1)));
    settle(second, delivered);
    Claim last = claim();
    assertCame("due at last", last).inOrder(messages.get(3));
    expect("attempts of the last", first(last).attempts()).isZero();
  }

  @Rule({"A4", "S2"})
  @Sentence("housekeeping takes nothing that is still of use: messages, leases, dedup keys")
  void housekeeping() {
    if (store() instanceof DeadLetterStore) {
      committed("dead", 1);
      die(false);
    }
    OutboxMessage delayed = committed(message("delayed").deliverAfter(tck.shortTime()));
    OutboxMessage retried = committed(message("k").dedupKey("d"));
    Claim claim = claim();
    housekeep();
    check(settleFirst(claim, at(soon())).isEmpty(), "S2: housekeeping takes what is claimed");
    housekeep();
    assertCame("S2: due after housekeeping", awaitDrained(2)).inAnyOrder(delayed, retried);
    if (store() instanceof DeadLetterStore) {
      check(listedDead().size() == 1, "S2: housekeeping takes a dead letter");
    }
    OutboxMessage again = message("k").dedupKey("d").build();
    check(
        commit(List.of(again)).contains(again.id()),
        "A4: a dedup key is forgotten after housekeeping, long before its window is over");
  }

  @Sentence("only a decision makes a dead letter, not the number of attempts")
  void neverDeadByItself() {
    committed("k", 1);
    Claim claim = claim();
    for (int attempts = 1; attempts <= MANY_ATTEMPTS; attempts++) {
      settle(claim, at(Duration.ZERO));
      int made = attempts;
      claim =
          await(
              "the message after %s counted retries".formatted(attempts),
              () -> {
                Claim next = claim();
                check(
                    !(store() instanceof DeadLetterStore && !listedDead().isEmpty()),
                    "after %s counted retries the message is a dead letter, and no decision made it one: how often to try is the relay's choice, not the store's",
                    made);
                return nonEmpty(next);
              });
      expect("attempts of the claimed message", first(claim).attempts()).isEqualTo(attempts);
    }
  }

  @Rule("S5")
  @Sentence("no error text makes settle fail, and no delay: one out of all bounds is long")
  void textsAndDelays() {
    committed("k", 1);
    expect("lost", settle(claim(), at(Duration.ofSeconds(Long.MAX_VALUE)))).isEmpty();
    assertNothingDue("the retry delay is the longest");
    List<String> texts =
        List.of(
            "",
            " ",
            "NUL \0 inside",
            "half a pair \uD83D",
            "\uDE00 the other half",
            "cut inside a pair " + "\uD83D\uDE00".repeat(2_000),
            "'; DROP TABLE outbox_message; --",
            "{0} %s ${x} :name ? \\",
            "x".repeat(1_000_000),
            "\u0001\u001F\uFFFF\uFEFF");
    for (String text : texts) {
      tck.prepare();
      committed("k", 1);
      expect("what settle says was lost", settle(claim(), Decision.retry(Duration.ZERO, text)))
          .isEmpty();
      Claim again = awaitClaim("the message after its retry");
      expect("attempts of the claimed message", first(again).attempts()).isEqualTo(1);
      expect("what settle says was lost", settle(again, Decision.dead(text))).isEmpty();
      assertNothingDue("settled as dead");
      if (store() instanceof DeadLetterStore) {
        expect("the dead letters listed", listedDead()).hasSize(1);
      }
    }
  }
}
