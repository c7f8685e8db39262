package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Place;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestMethodOrder;

/** S1 to S3 and S5: what each decision does, and each settle. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Place(1)
@Rule("S2")
abstract class SettleTests<T> extends StoreTests<T> {
  /** More than any relay makes before it gives up. */
  private static final int MANY_ATTEMPTS = 30;

  private static final List<Decision> ALL =
      List.of(
          Decision.delivered(),
          Decision.retry(LONG, "refused"),
          Decision.retryUncounted(LONG, "unavailable"),
          Decision.dead("rejected"),
          Decision.deadHaltingKey("rejected"));

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
    Claim claim = claimAtLeast(4, LONG);
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
    store().housekeep();
    check(settleFirst(claim, at(soon())).isEmpty(), "S2: housekeeping takes what is claimed");
    store().housekeep();
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

  // ---- settle

  @Rule("S1")
  @Sentence(
      "a settle after another took over is refused, and changes nothing, before or after its own")
  void stale() {
    for (Decision decision : ALL) {
      tck.prepare();
      OutboxMessage message = committed(message("k"));
      TakenOver claims = takenOver();
      StoredMessage claimed = first(claims.stale());
      Settled refused =
          store().settleAndClaim(claims.stale(), all(claims.stale(), decision), request(1, LONG));
      assertRefused(refused.lost(), claimed, decision);
      expect("claimed while another holds it", refused.next().messages()).isEmpty();
      assertNothingDue("still held by the one that took over, after a stale " + decision);
      assertThat(claims.current().settle(Map.of()))
          .as("lost by the one that took over, after a stale %s", decision)
          .isEmpty();
      claims = takenOver();
      assertCame("due after a stale %s".formatted(decision), claims.stale()).inOrder(message);
      expect("attempts after a stale %s".formatted(decision), first(claims.stale()).attempts())
          .isZero();
      settle(claims.current(), Decision.retry(Duration.ZERO, "refused"));
      assertRefused(settle(claims.stale(), decision), claimed, decision);
      Claim again = awaitClaim("the message due at once, after a stale " + decision);
      expect("attempts after a stale %s".formatted(decision), first(again).attempts()).isEqualTo(1);
    }
  }

  private static void assertRefused(Set<Long> lost, StoredMessage claimed, Decision decision) {
    check(
        lost.equals(Set.of(claimed.sequence())),
        "a settle as %s does not say that its message was lost, though another has taken it over: a settle must ask whether the claim still holds the key",
        decision);
  }

  @Rule("S1")
  @Sentence("a settle that is repeated counts nothing twice, and leaves alone what followed")
  void repeated() {
    assertRepeats(Claim::settle);
  }

  @Rule("S1")
  @Sentence("a settle whose reply was lost counts nothing twice either, when it is repeated")
  void repeatedAfterLostReply() {
    LosesReplies fixture = tck.fixture(LosesReplies.class);
    assertRepeats(
        (claim, decisions) ->
            fixture.losingTheReply(
                () -> { // as a relay does it that goes on at once
                  Settled unheard =
                      store().settleAndClaim(claim, decisions, request(1, tck.shortTime()));
                  expect("lost, though nobody took over", unheard.lost()).isEmpty();
                }));
  }

  private void assertRepeats(BiConsumer<Claim, Map<Long, Decision>> settle) {
    for (Decision decision :
        List.of(
            Decision.retry(Duration.ZERO, "refused"),
            Decision.retryUncounted(Duration.ZERO, "unavailable"),
            dead(false),
            dead(true))) {
      tck.prepare();
      committed("k", 3);
      Claim claim = claim(1, tck.shortTime());
      Map<Long, Decision> decisions = Map.of(first(claim).sequence(), decision);
      settle.accept(claim, decisions);
      claim.settle(decisions);
      if (decision instanceof Decision.Retry retry) {
        Claim other = awaitClaim("the message due at once, after " + decision);
        expect("lost, when repeated while another holds it", claim.settle(decisions))
            .contains(first(claim).sequence());
        expect("lost by the other", other.settle(Map.of())).isEmpty();
        StoredMessage again = first(awaitClaim("the message given back, after " + decision));
        expect("the head of the key", again.sequence()).isEqualTo(first(claim).sequence());
        expect("attempts after %s was settled twice".formatted(decision), again.attempts())
            .isEqualTo(retry.counts() ? 1 : 0);
      } else if (store() instanceof DeadLetterStore) {
        assertDiedOnce(claim, decisions);
      }
    }
  }

  private void assertDiedOnce(Claim claim, Map<Long, Decision> decisions) {
    assertThat(listedDead())
        .as("attempts of dead letters after a repeated settle")
        .extracting(letter -> letter.message().attempts())
        .containsExactly(1);
    expect("whether it was requeued", requeue(first(claim).sequence())).isTrue();
    claim.settle(decisions);
    assertThat(listedDead())
        .as("dead letters: a repeated settle changed a message that was requeued in between")
        .isEmpty();
    assertCame("came after the requeue", awaitDrained(3)).hasSize(3);
  }

  @Rule("S1")
  @Sentence("a settle whose connection breaks has settled all of a key or nothing")
  void breaksOff() {
    BreaksConnections fixture = tck.fixture(BreaksConnections.class);
    breakingAtEachWrite(write -> broke(fixture, write));
  }

  private boolean broke(BreaksConnections fixture, int write) {
    tck.prepare();
    List<OutboxMessage> messages = committed("k", 3);
    Claim claim = claimAtLeast(3, soon());
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    boolean broke = fixture.breakingAtWrite(write, () -> claim.settle(decisions));
    OutboxMessage last = committed(message("k"));
    Set<UUID> came =
        new HashSet<>(
            awaitCame(
                "a message appended to the key after its connection had broken at write %s of a settle"
                    .formatted(write),
                List.of(),
                last));
    came.retainAll(idsOf(messages));
    check(
        came.isEmpty() || came.size() == messages.size(),
        "the connection broke at write %s of a settle that delivers 3 messages of a key, and %s are left: what a settle does to a key is one transaction",
        write,
        came.size());
    return broke;
  }

  @Rule("S1")
  @Sentence("a settle of messages that are gone leaves those alone that were given their sequences")
  void sequencesGivenAgain() {
    RestartsSequences fixture = tck.fixture(RestartsSequences.class);
    for (Decision decision : ALL) {
      tck.prepare();
      fixture.restartSequences();
      committed("k", 3);
      Claim claim = claim(3, LONG);
      Map<Long, Decision> decisions = all(claim, Decision.delivered());
      decisions.put(claim.messages().get(claim.messages().size() - 1).sequence(), decision);
      fixture.restartSequences();
      List<OutboxMessage> others = committed("k", 3);
      claim.settle(decisions);
      List<StoredMessage> due = drain();
      assertCame(
              "due, after a settle of messages that are gone: delivered, and at last %s"
                  .formatted(decision),
              due)
          .inOrder(others);
      assertThat(due).extracting(StoredMessage::attempts).as("attempts").containsOnly(0);
      assertThat(due)
          .extracting(StoredMessage::sequence)
          .as("sequences, which the fixture should have made begin again")
          .containsAll(decisions.keySet());
    }
  }

  @Rule("S1")
  @Sentence("a decision on a sequence that the claim does not have is refused, with no change")
  void unknownSequence() {
    committed("k", 1);
    Claim claim = claim();
    Decision delivered = Decision.delivered();
    Map<Long, Decision> decisions = Map.of(first(claim).sequence(), delivered, -1L, delivered);
    assertRefused(
        "settle with a sequence that the claim does not have", "", () -> claim.settle(decisions));
    assertRefused(
        "settleAndClaim with a sequence that the claim does not have",
        "",
        () -> store().settleAndClaim(claim, decisions, request(1, LONG)));
    assertNothingDue("still held after a settle that was refused");
    expect("lost after a settle that was refused", claim.settle(Map.of())).isEmpty();
    assertCame("due: the settle that was refused changed nothing", drain()).hasSize(1);
  }

  @Rule("S3")
  @Sentence("after settle the rest of the key is claimable at once")
  void restAtOnce() {
    List<OutboxMessage> messages = committed("k", 50);
    Claim claim = claim(2, LONG);
    settle(claim, Decision.delivered());
    Claim next = claim(2, LONG);
    expect("due right after settle", next.messages()).isNotEmpty();
    expect("the oldest of the rest", id(first(next)))
        .isEqualTo(messages.get(claim.messages().size()).id());
  }

  @Rule("S3")
  @Sentence("settleAndClaim settles, and brings what is due next")
  void settleAndClaim() {
    List<OutboxMessage> messages = committed("k", 5);
    Claim claim = claim(1, LONG);
    for (int i = 0; i < messages.size(); i++) {
      assertCame("claim number %s".formatted(i), claim).inOrder(messages.get(i));
      Settled settled =
          store().settleAndClaim(claim, all(claim, Decision.delivered()), request(1, LONG));
      expect("what settle says was lost", settled.lost()).isEmpty();
      claim = settled.next();
      if (claim.messages().isEmpty() && claim.pollAgain()) {
        claim = claim(1, LONG);
      }
      if (i == messages.size() - 2) { // it has the last of the key
        letLeaseEnd();
        assertNothingDue("held for hours by a claim that came with a settle");
      }
    }
    expect("due after the last", claim.messages()).isEmpty();
    committed("k", 1);
    assertCame("due, appended after the last was settled", drain()).hasSize(1);
  }
}
