package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;

/** C10: messages that expire. That relays publish none of them is not the store's. */
@DisplayName("Expiry")
@Rule("C10")
abstract class ExpiryTests<T> extends StoreTests<T> {
  static final Instant OVER = Instant.parse("2001-09-09T01:46:40.123456Z");
  private static final Instant FAR = Instant.parse("2999-12-31T23:59:59.999999Z");
  private static final Duration OFF = Duration.ofMinutes(10);

  @BeforeEach
  void unlock() {
    tck.fixture(ExpiresMessages.class);
  }

  private void assertGone(String what) {
    assertNothingDue(what);
    if (store() instanceof DeadLetterStore) {
      expect("dead letters", listedDead()).isEmpty();
    }
  }

  @Sentence("a message whose time is over is claimed as expired, no other is; the time comes back")
  void claimedAsExpired() {
    OutboxMessage over = committed(message("over").expiresAt(OVER));
    OutboxMessage later = committed(message("later").expiresAt(FAR));
    committed(message("after").expireAfter(LONG));
    committed("never", 1);
    List<StoredMessage> came = drain();
    expect("messages that came", came).hasSize(4);
    for (StoredMessage message : came) {
      expect("whether it has expired, of " + message, message.expired())
          .isEqualTo(id(message).equals(over.id()));
      if (List.of(over.id(), later.id()).contains(id(message))) {
        assertSame(message.message(), id(message).equals(over.id()) ? over : later);
      }
    }
  }

  @Sentence("expireAfter counts from the append, and comes back as the time that it leads to")
  void expireAfter() {
    committed(message("k").expireAfter(LONG));
    assertExpiresAfter(LONG, drain().get(0));
    committed(message("k").expireAfter(soon()));
    assertExpiresAfter(soon(), first(awaitExpired("the end of a message's time")));
  }

  private static void assertExpiresAfter(Duration time, StoredMessage expired) {
    OutboxMessage came = expired.message();
    expect("expireAfter of a message handed out", came.expireAfter()).isNull();
    assertThat(came.expiresAt())
        .as("expiresAt of a message that was appended with expireAfter %s", time)
        .isNotNull()
        .isBetween(
            expired.createdAt().plus(time).minusSeconds(1),
            expired.createdAt().plus(time).plusSeconds(60));
  }

  @Sentence(
      "settled as expired it is gone, also when delayed, is no dead letter, and its key goes on")
  void settledAsExpired() {
    committed(message("k").expiresAt(OVER));
    assertGoesOn(claim(), committed(message("k")));
    committed(message("k").expiresAt(OVER).deliverAfter(tck.shortTime().dividedBy(10)));
    Claim claim = awaitClaim("a delayed message");
    assertGoesOn(claim, committed(message("k")));
  }

  private void assertGoesOn(Claim claim, OutboxMessage next) {
    expect("expired", first(claim).expired()).isTrue();
    expect("what settle says was lost", settleFirst(claim, Decision.expired())).isEmpty();
    settleFirst(claim, Decision.expired()); // once more, and nothing happens twice
    assertCame("after a message of the key has expired", drain()).inOrder(next);
    assertGone("one expired, and one was delivered");
  }

  @Sentence("one that expires while it waits for a retry leaves, and the next of its key comes")
  void expiresWhileItWaits() {
    committed(message("k").expireAfter(soon()));
    OutboxMessage next = committed(message("k"));
    settleFirst(claim(), Decision.retry(Duration.ZERO, "refused"));
    Claim expired = awaitExpired("the end of the time of a message that failed");
    expect("attempts", first(expired).attempts()).isEqualTo(1);
    settleFirst(expired, Decision.expired());
    assertCame("behind one that failed and expired", awaitDrained(1)).inOrder(next);
    assertGone("one expired, and one was delivered");
  }

  @Rule({"C10", "S2"})
  @Sentence("one that expires behind another that fails leaves, and the other stays")
  void expiresBehindAnother() {
    OutboxMessage head = committed(message("k"));
    committed(message("k").expiresAt(OVER));
    OutboxMessage last = committed(message("k"));
    Claim claim = claimAtLeast(2, LONG);
    claim.settle(
        Map.of(
            first(claim).sequence(),
            Decision.retry(Duration.ZERO, "refused"),
            claim.messages().get(1).sequence(),
            Decision.expired()));
    assertCame("around one that expired", awaitDrained(2)).inOrder(head, last);
    assertGone("one expired, and two were delivered");
  }

  @Sentence("a dead letter whose time is over is claimed as expired when it is requeued")
  void expiresRequeued() {
    committed(message("k").expiresAt(OVER));
    requeue(die(true));
    expect("expired", first(awaitClaim("what was requeued")).expired()).isTrue();
  }

  @Rule({"C10", "S1"})
  @Sentence("a settle after another took over lets nothing expire")
  void expiresForOneThatLostIt() {
    OutboxMessage message = committed(message("k").expiresAt(OVER));
    TakenOver claims = takenOver();
    expect("lost", settle(claims.stale(), Decision.expired())).hasSize(1);
    release(claims.current());
    assertCame("after the settle of one that lost it", claim()).inOrder(message);
  }

  @Rule({"C10", "T1"})
  @Sentence("a time is over by the store's clock, whatever the clients' clocks say")
  void expiresByStoresClock() {
    ClientClocks<T> fixture = tck.fixture(ClientClocks.class);
    for (Duration off : List.of(OFF, OFF.negated())) {
      tck.prepare();
      OutboxStore<T> wrong = fixture.createStore(Clock.offset(Clock.systemUTC(), off));
      OutboxMessage message = message("k").expireAfter(OFF.dividedBy(2)).build();
      tck.inTransaction(t -> wrong.append(t, List.of(message)));
      for (OutboxStore<T> by : List.of(store(), wrong)) {
        Claim claim = claim(by);
        expect("expired at once, where one clock is off by " + off, first(claim).expired())
            .isFalse();
        release(claim);
      }
    }
  }
}
