package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** O1, O2 and O4, by scripted interleavings. */
abstract class OrderTests<T> extends StoreTests<T> {
  OrderTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @Test
  @Rule("O1")
  @Sentence("messages of a key come in order over many claims")
  void overClaims() {
    List<OutboxMessage> messages = committed("k", 20);
    List<UUID> came = new ArrayList<>();
    while (came.size() < 20) {
      Claim claim = claim(3, LONG);
      assertThat(claim.messages()).as("due, after %d of 20 came", came.size()).isNotEmpty();
      came.addAll(ids(claim));
      settle(claim, Decision.delivered());
    }
    assertCame(came).as("first deliveries").containsExactlyElementsOf(idsOf(messages));
  }

  @Test
  @Rule("O1")
  @Sentence("after a crash, a key begins again at its oldest message")
  void afterCrash() {
    List<OutboxMessage> messages = committed("k", 4);
    TakenOver claims = takenOver();
    assertThat(id(first(claims.current())))
        .as("first of the claim that took over")
        .isEqualTo(messages.get(0).id());
    assertThat(claims.current().messages().stream().map(StoredMessage::sequence))
        .as("sequences of the claim that took over")
        .isSorted();
  }

  @Test
  @Rule("O1")
  @Sentence("a retried head stays before the later ones of its key")
  void afterRetry() {
    List<OutboxMessage> messages = committed("k", 3);
    for (int i = 0; i < 3; i++) {
      Claim claim = awaitClaim("the head after its retry");
      assertThat(id(first(claim))).as("the head of the key").isEqualTo(messages.get(0).id());
      retryFirst(claim, Duration.ZERO, i != 1);
    }
    assertCame(ids(awaitDrained(3)))
        .as("what came in the end")
        .containsExactlyElementsOf(idsOf(messages));
  }

  @Test
  @Rule("O1")
  @Sentence("a clock that is put back changes no order")
  void clockPutBack() {
    MovesClock clock = tck.fixture(MovesClock.class);
    OutboxMessage before = committed(message("k"));
    clock.moveClock(Duration.ofHours(-1));
    OutboxMessage after = committed(message("k"));
    assertCame(awaitDrained(2))
        .as(
            "of one key, and the clock was put back by an hour between the two appends; the order is"
                + " that of sequences, not of times")
        .containsExactly(before.id(), after.id());
  }

  @Test
  @Rule("O1")
  @Sentence("a transaction that began first and appends last to a key comes last in it")
  void beganFirstAppendedLast() {
    OutboxMessage first = message("k").build();
    OutboxMessage last = message("k").build();
    try (OpenTransaction<T> began = open()) {
      began.append(message("other").build());
      commit(List.of(first));
      began.append(last);
      began.commit();
    }
    assertCame(awaitDrained(3).stream().filter(m -> m.key().equals(key("k"))).toList())
        .as(
            "of one key, appended last by the transaction that began first; the order is that of"
                + " sequences, not of the times at which transactions began")
        .containsExactly(first.id(), last.id());
  }

  @Test
  @Rule("O2")
  @Sentence("while the head waits for its retry, later ones wait, those appended then too")
  void laterOnesWait() {
    committed("k", 3);
    retryFirst(claim(), LONG, true);
    assertNothingDue("later messages of a key whose head waits for its retry");
    committed("k", 2);
    assertNothingDue("messages appended to a key whose head waits for its retry");
  }

  @Test
  @Rule("O2")
  @Sentence("the same whatever the key holds, and then its messages come in order")
  void laterOnesWaitWhateverTheKey() {
    for (String key : FieldTests.NASTY) {
      tck.prepare();
      List<OutboxMessage> messages = committed(key, 2);
      retryFirst(claim(), Duration.ofMillis(1), true);
      OutboxMessage later = committed(message(key));
      assertCame(ids(awaitDrained(3)))
          .as("messages of the key %s after its head was retried", FieldTests.shown(key))
          .containsExactly(messages.get(0).id(), messages.get(1).id(), later.id());
    }
  }

  @Test
  @Rule("O2")
  @Sentence("the same for a retry that does not count")
  void laterOnesWaitUnavailable() {
    committed("k", 3);
    retryFirst(claim(), LONG, false);
    assertNothingDue("later messages of a key whose head is unavailable");
  }

  @Test
  @Rule("O2")
  @Sentence("a message in the middle that waits holds back only what is behind it")
  void middle() {
    List<OutboxMessage> messages = committed("k", 4);
    Claim claim = claimAtLeast(2);
    settle(
        claim,
        Map.of(
            claim.messages().get(0).sequence(), Decision.delivered(),
            claim.messages().get(1).sequence(), Decision.retry(LONG, "refused")));
    assertNothingDue("behind message " + messages.get(1).id());
  }

  @Test
  @Rule("O2")
  @Sentence("other keys go on")
  void otherKeysGoOn() {
    for (int i = 0; i < 20; i++) {
      committed("failing" + i, 2);
      Claim claim = claimOf("failing" + i);
      retryFirst(claim, LONG, i % 2 == 0);
    }
    List<OutboxMessage> others =
        IntStream.range(0, 20).mapToObj(i -> message("good" + i).build()).toList();
    commit(others);
    assertCame(ids(drain()))
        .as("due beside 20 keys that wait for a retry")
        .containsExactlyInAnyOrderElementsOf(idsOf(others));
  }

  @Test
  @Rule("O2")
  @Sentence("a head that failed comes alone until it is delivered, then its followers in order")
  void comesAlone() {
    List<OutboxMessage> messages = committed("k", 4);
    for (boolean counts : List.of(false, false, true, false)) {
      retryFirst(awaitClaim("the head"), Duration.ZERO, counts);
      Claim claim = awaitClaim("the head after its retry");
      assertCame(ids(claim))
          .as("a head that failed or was unavailable does not bring its followers along")
          .containsExactly(messages.get(0).id());
      release(claim);
    }
    assertCame(ids(awaitDrained(4)))
        .as("what came in the end")
        .containsExactlyElementsOf(idsOf(messages));
  }

  @Test
  @Rule("O4")
  @Sentence("a delayed message does not come before it is due, and holds nobody back")
  void delayed() {
    committed(message("k").deliverAfter(LONG));
    OutboxMessage second = committed(message("k"));
    OutboxMessage third = committed(message("k"));
    assertCame(ids(drain()))
        .as("due behind a delayed message of the same key")
        .containsExactly(second.id(), third.id());
  }

  @Test
  @Rule("O4")
  @Sentence("delayed messages come when they are due")
  void delayedComes() {
    OutboxMessage delayed = committed(message("k").deliverAfter(tck.shortTime()));
    OutboxMessage other = committed(message("k"));
    assertCame(ids(awaitDrained(2)))
        .as("what came in the end")
        .containsExactlyInAnyOrder(other.id(), delayed.id());
  }

  @Test
  @Rule("O4")
  @Sentence("a delayed message before a blocked one comes at last, and the blocked one too")
  void delayedBeforeBlocked() {
    OutboxMessage delayed = committed(message("k").deliverAfter(tck.shortTime()));
    OutboxMessage failing = committed(message("k"));
    OutboxMessage behind = committed(message("k"));
    Claim claim = claim();
    if (ids(claim).contains(delayed.id())) {
      throw new TestAbortedException(
          "skipped: the delay of %s was over".formatted(tck.shortTime()));
    }
    retryFirst(claim, tck.shortTime(), true);
    List<UUID> came = ids(awaitDrained(3));
    requires("O2", () -> assertCame(came).containsSubsequence(failing.id(), behind.id()));
    assertCame(came)
        .as("what came in the end")
        .containsExactlyInAnyOrder(delayed.id(), failing.id(), behind.id());
  }

  @Test
  @Rule("O2")
  @Sentence("a delayed message behind a blocked one waits for it, even when it is due")
  void delayedBehindBlocked() {
    OutboxMessage failing = committed(message("k"));
    OutboxMessage delayed = committed(message("k").deliverAfter(tck.shortTime()));
    Claim claim = claim();
    assertThat(id(first(claim))).as("the head of the key").isEqualTo(failing.id());
    retryFirst(claim, LONG, true);
    OutboxMessage clock = committed(message("clock").deliverAfter(tck.shortTime()));
    assertCame(ids(awaitDrained(1)))
        .as("due, when the delay of message %s is over too", delayed.id())
        .containsExactly(clock.id());
  }

  @Test
  @Rule("O1")
  @Sentence("a low sequence that commits late is not lost, however far the others are")
  void lateCommit() {
    OutboxMessage low = message("k").build();
    try (OpenTransaction<T> late = open()) {
      late.append(low);
      List<OutboxMessage> high =
          IntStream.range(0, 200)
              .mapToObj(i -> message(i % 5 == 0 ? "k" : "l" + i).build())
              .toList();
      commit(high);
      List<UUID> came = new ArrayList<>();
      for (Claim c = claim(20, LONG); !c.messages().isEmpty(); c = claim(20, LONG)) {
        came.addAll(ids(c));
        settle(c, Decision.delivered());
      }
      assertCame(came).as("came before the late commit").containsAll(idsOf(high));
      late.commit();
      came.addAll(ids(drain()));
      assertCame(came).as("came after the late commit").contains(low.id());
    }
  }

  @Test
  @Rule("O1")
  @Sentence("a low sequence that commits while its key is claimed comes after that claim")
  void lateCommitWhileClaimed() {
    OutboxMessage low = message("k").build();
    try (OpenTransaction<T> late = open()) {
      late.append(low);
      List<OutboxMessage> high = committed("k", 3);
      Claim claim = claim(1, LONG);
      assertThat(claim.messages()).as("what is due now").isNotEmpty();
      late.commit();
      settle(claim, Decision.delivered());
      List<UUID> rest = ids(drain());
      assertCame(rest)
          .as("after the late commit: the late one, and the others in order")
          .contains(low.id())
          .containsSubsequence(high.get(1).id(), high.get(2).id());
    }
  }

  @Test
  @Rule("O1")
  @Sentence("a low sequence that commits while its key waits for a retry leaves no key stuck")
  void lateCommitWhileBlocked() {
    OutboxMessage low = message("k").build();
    try (OpenTransaction<T> late = open()) {
      late.append(low);
      List<OutboxMessage> high = committed("k", 2);
      retryFirst(claim(1, LONG), tck.shortTime(), true);
      late.commit();
      List<UUID> came = ids(awaitDrained(3));
      requires(
          "O2", () -> assertCame(came).containsSubsequence(high.get(0).id(), high.get(1).id()));
      assertCame(came)
          .as("what came in the end")
          .containsExactlyInAnyOrder(low.id(), high.get(0).id(), high.get(1).id());
    }
  }

  @Test
  @Rule("O5")
  @Sentence("order of producers that do not serialise their writes to a key: not testable")
  void producersSerialise() {
    throw new TestAbortedException(
        "skipped: whether producers lock or version the aggregate before they append cannot be"
            + " seen in a store");
  }
}
