package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.DeadLetterStore;
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

/** S1 and S3. */
@Place(2)
@Rule("S1")
abstract class SettleTests<T> extends StoreTests<T> {
  private static final List<Decision> ALL =
      List.of(
          Decision.delivered(),
          Decision.retry(LONG, "refused"),
          Decision.retryUncounted(LONG, "unavailable"),
          Decision.dead("rejected"),
          Decision.deadHaltingKey("rejected"));

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

  @Sentence("a settle that is repeated counts nothing twice, and leaves alone what followed")
  void repeated() {
    assertRepeats(Claim::settle);
  }

  @Sentence("a settle whose reply was lost counts nothing twice either, when it is repeated")
  void repeatedAfterLostReply() {
    LosesReplies fixture = tck.fixture(LosesReplies.class);
    assertRepeats((claim, decisions) -> settleUnheard(fixture, claim, decisions));
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

  /** As a relay does it that goes on at once. */
  private void settleUnheard(LosesReplies fixture, Claim claim, Map<Long, Decision> decisions) {
    fixture.losingTheReply(
        () -> {
          Settled unheard = store().settleAndClaim(claim, decisions, request(1, tck.shortTime()));
          expect("lost, though nobody took over", unheard.lost()).isEmpty();
        });
  }

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
