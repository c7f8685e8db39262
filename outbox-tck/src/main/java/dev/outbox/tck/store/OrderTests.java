package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.opentest4j.TestAbortedException;

/** O1, O2 and O4, by scripted interleavings. */
@Rule("O1")
abstract class OrderTests<T> extends StoreTests<T> {
  @Sentence("after a crash, a key begins again at its oldest message")
  void afterCrash() {
    List<OutboxMessage> messages = committed("k", 4);
    TakenOver claims = takenOver();
    expect("first of the claim that took over", id(first(claims.current())))
        .isEqualTo(messages.get(0).id());
    expect("sequences of the claim that took over", sequences(claims.current())).isSorted();
  }

  @Sentence("a clock that is put back changes no order")
  void clockPutBack() {
    MovesClock clock = tck.fixture(MovesClock.class);
    OutboxMessage before = committed(message("k"));
    clock.moveClock(Duration.ofHours(-1));
    OutboxMessage after = committed(message("k"));
    assertCame(
            "of one key, and the clock was put back by an hour between the two appends; the order is that of sequences, not of times",
            awaitDrained(2))
        .inOrder(before, after);
  }

  @Sentence("a transaction that began first and appends last to a key comes last in it")
  void beganFirstAppendedLast() {
    OutboxMessage first = message("k").build();
    OutboxMessage last = message("k").build();
    try (OpenWork<T> began = open()) {
      append(began, message("other").build());
      commit(List.of(first));
      append(began, last);
      began.commit();
    }
    assertCame(
            "of one key, appended last by the transaction that began first; the order is that of sequences, not of the times at which transactions began",
            awaitDrained(3).stream().filter(m -> m.key().equals(key("k"))).toList())
        .inOrder(first, last);
  }

  @Rule("O2")
  @Sentence("while the head waits for its retry, later ones wait, those appended then too")
  void laterOnesWait() {
    for (boolean counts : List.of(true, false)) {
      tck.prepare();
      committed("k", 3);
      retryFirst(claim(), LONG, counts);
      assertNothingDue(
          "later messages of a key whose head "
              + (counts ? "waits for its retry" : "is unavailable"));
      committed("k", 2);
      assertNothingDue("messages appended to a key whose head waits for its retry");
    }
  }

  @Rule("O2")
  @Sentence("other keys go on")
  void otherKeysGoOn() {
    for (int i = 0; i < 20; i++) {
      committed("failing" + i, 2);
      retryFirst(claim(), LONG, i % 2 == 0);
    }
    List<OutboxMessage> others = committed(20, i -> "good" + i);
    assertCame("due beside 20 keys that wait for a retry", drain()).inAnyOrder(others);
  }

  @Rule("O2")
  @Sentence("a head that failed comes alone until it is delivered, then its followers in order")
  void comesAlone() {
    List<OutboxMessage> messages = committed("k", 4);
    for (boolean counts : List.of(false, false, true, false)) {
      retryFirst(awaitClaim("the head"), Duration.ZERO, counts);
      Claim claim = awaitClaim("the head after its retry");
      assertCame("a head that failed or was unavailable does not bring its followers along", claim)
          .inOrder(messages.get(0));
      release(claim);
    }
    TakenOver claims = takenOver();
    assertCame("a head that failed comes alone after a crash, too", claims.current())
        .inOrder(messages.get(0));
    release(claims.current());
    assertCame("what came in the end", awaitDrained(4)).inOrder(messages);
  }

  @Rule("O4")
  @Sentence("a delayed message does not come before it is due, and holds nobody back")
  void delayed() {
    committed(message("k").deliverAfter(LONG));
    OutboxMessage second = committed(message("k"));
    OutboxMessage third = committed(message("k"));
    assertCame("due behind a delayed message of the same key", drain()).inOrder(second, third);
  }

  @Rule("O4")
  @Sentence("a delayed message before a blocked one comes at last, and the blocked one too")
  void delayedBeforeBlocked() {
    OutboxMessage delayed = committed(message("k").deliverAfter(tck.shortTime()));
    OutboxMessage failing = committed(message("k"));
    OutboxMessage behind = committed(message("k"));
    Claim claim = claim();
    skipUnless(!ids(claim).contains(delayed.id()), "the delay of %s was over", tck.shortTime());
    retryFirst(claim, tck.shortTime(), true);
    List<UUID> came = ids(awaitDrained(3));
    requires("O2", () -> assertCame(came).containsInOrder(failing, behind));
    assertCame("what came in the end", came).inAnyOrder(delayed, failing, behind);
  }

  @Rule("O2")
  @Sentence("a delayed message behind a blocked one waits for it, even when it is due")
  void delayedBehindBlocked() {
    OutboxMessage failing = committed(message("k"));
    OutboxMessage delayed = committed(message("k").deliverAfter(tck.shortTime()));
    Claim claim = claim();
    expect("the head of the key", id(first(claim))).isEqualTo(failing.id());
    retryFirst(claim, LONG, true);
    OutboxMessage clock = committed(message("clock").deliverAfter(tck.shortTime()));
    assertCame(
            "due, when the delay of message %s is over too".formatted(delayed.id()),
            awaitDrained(1))
        .inOrder(clock);
  }

  @Sentence("a low sequence that commits late is not lost, however far the others are")
  void lateCommit() {
    OutboxMessage low = message("k").build();
    try (OpenWork<T> late = open()) {
      append(late, low);
      List<OutboxMessage> high = committed(200, i -> i % 5 == 0 ? "k" : "l" + i);
      List<UUID> came = new ArrayList<>(ids(decideAll(20, m -> Decision.delivered())));
      assertCame("came before the late commit", came).contains(high);
      late.commit();
      came.addAll(ids(drain()));
      assertCame("came after the late commit", came).contains(low);
    }
  }

  @Sentence("a low sequence that commits while its key is claimed comes after that claim")
  void lateCommitWhileClaimed() {
    OutboxMessage low = message("k").build();
    try (OpenWork<T> late = open()) {
      append(late, low);
      List<OutboxMessage> high = committed("k", 3);
      Claim claim = claim(1, LONG);
      expect("what is due now", claim.messages()).isNotEmpty();
      late.commit();
      settle(claim, Decision.delivered());
      List<UUID> rest = ids(drain());
      assertCame("after the late commit: the late one, and the others in order", rest)
          .contains(low)
          .containsInOrder(high.get(1), high.get(2));
    }
  }

  @Sentence("a low sequence that commits while its key waits for a retry leaves no key stuck")
  void lateCommitWhileBlocked() {
    OutboxMessage low = message("k").build();
    try (OpenWork<T> late = open()) {
      append(late, low);
      List<OutboxMessage> high = committed("k", 2);
      retryFirst(claim(1, LONG), tck.shortTime(), true);
      late.commit();
      List<UUID> came = ids(awaitDrained(3));
      requires("O2", () -> assertCame(came).containsInOrder(high.get(0), high.get(1)));
      assertCame("what came in the end", came).inAnyOrder(low, high.get(0), high.get(1));
    }
  }

  @Rule("O5")
  @Sentence("order of producers that do not serialise their writes to a key: not testable")
  void producersSerialise() {
    throw new TestAbortedException(
        "skipped: no store shows whether producers lock the aggregate before they append");
  }
}
