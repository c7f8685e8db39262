package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/** O1 to O4, by scripted interleavings, and what people decide about dead letters. */
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
    try (OpenWork<T> began = tck.open()) {
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
    try (OpenWork<T> late = tck.open()) {
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
    try (OpenWork<T> late = tck.open()) {
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
    try (OpenWork<T> late = tck.open()) {
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

  // ---- dead letters

  private void mustRequeue(long sequence) {
    expect("whether it was requeued", requeue(sequence)).isTrue();
  }

  private void mustDiscard(long sequence) {
    expect("whether it was discarded", discard(sequence)).isTrue();
  }

  @Rule("O3")
  @Sentence(
      "a dead letter that halts its key holds back the key, later and delayed ones, and no other key")
  void haltsKey() {
    committed("k", 3);
    committed(message("k").deliverAfter(tck.shortTime()));
    die(true);
    assertNothingDue("behind a dead letter that halts its key");
    committed("k", 2);
    OutboxMessage other = committed(message("other").deliverAfter(tck.shortTime()));
    assertCame(
            "due beside a blocked key, its delayed message, and messages appended to it",
            awaitDrained(1))
        .inOrder(other);
    assertNothingDue("a blocked key stays blocked");
  }

  @Rule("O3")
  @Sentence(
      "behind a dead letter that halts its key a low sequence that commits late waits too, and is not lost")
  void blocksLateCommit() {
    letters();
    OutboxMessage low = message("k").build();
    try (OpenWork<T> late = tck.open()) {
      append(late, low);
      List<OutboxMessage> high = committed("k", 2);
      long dead = die(true);
      late.commit();
      assertNothingDue("committed late to a blocked key");
      mustDiscard(dead);
      assertCame("due after the dead letter was discarded", awaitDrained(2))
          .inAnyOrder(low, high.get(1));
    }
  }

  @Rule("O3")
  @Sentence("a list of no dead letters is refused, not taken for an empty one")
  void limitOfAList() {
    DeadLetterStore letters = letters();
    for (int limit : new int[] {0, -1}) {
      assertRefused(
          "deadLetters with a limit of %s".formatted(limit),
          "" + limit,
          () -> letters.deadLetters(0, limit));
    }
  }

  @Rule({"O2", "O3"})
  @Sentence(
      "whatever the key holds, its retry holds it back, and its dead letter until it is discarded")
  void blockingWhateverTheKey() {
    for (String key : NASTY) {
      List<OutboxMessage> messages = committed(key, 2);
      retryFirst(claim(), Duration.ofMillis(1), true);
      Claim retried = awaitClaim("the head after its retry");
      assertCame("the key %s after its head was retried".formatted(shown(key)), retried)
          .inOrder(messages.get(0));
      if (!(store() instanceof DeadLetterStore)) {
        settle(retried, Decision.delivered());
        assertCame("behind the head of the key %s".formatted(shown(key)), awaitDrained(1))
            .inOrder(messages.get(1));
        continue;
      }
      long dead = first(retried).sequence();
      settle(retried, dead(true));
      OutboxMessage later = committed(message(key));
      assertNothingDue("behind a dead letter that halts the key " + shown(key));
      mustDiscard(dead);
      assertCame(
              "behind the discarded dead letter of the key %s".formatted(shown(key)),
              awaitDrained(2))
          .inOrder(messages.get(1), later);
    }
  }

  @Rule("O3")
  @Sentence("a requeued dead letter that dies again halts its key again")
  void diesAgain() {
    committed("k", 1);
    mustRequeue(die(true));
    long again = die(true);
    OutboxMessage next = committed(message("k"));
    assertNothingDue("behind a dead letter that halts its key again");
    mustDiscard(again);
    assertCame("what came in the end", awaitDrained(1)).inOrder(next);
    committed("k", 1);
    mustDiscard(die(true));
    assertNothingDue("the only message of its key was discarded");
    OutboxMessage last = committed(message("k"));
    assertCame("due after that", drain()).inOrder(last);
  }

  @Rule("O3")
  @Sentence("a dead letter that does not block is requeued while its key is claimed or waits")
  void requeueWhileBusy() {
    List<OutboxMessage> messages = committed("k", 3);
    long dead = die(false);
    Claim claim = claim(1, LONG);
    mustRequeue(dead);
    settle(claim, Decision.retry(tck.shortTime(), "refused"));
    List<UUID> came = ids(awaitDrained(3));
    requires("O2", () -> assertCame(came).containsInOrder(messages.get(1), messages.get(2)));
    assertCame("what came in the end", came).inAnyOrder(messages);
  }

  @Rule({"O2", "O3"})
  @Sentence("a decision about another dead letter of the key frees none that is halted or waits")
  void otherDeadLetter() {
    letters();
    for (boolean requeue : List.of(true, false)) {
      for (boolean halts : List.of(true, false)) {
        tck.prepare();
        List<OutboxMessage> messages = committed("k", 3);
        long first = die(false);
        Claim second = claim();
        settleFirst(second, halts ? dead(true) : Decision.retry(LONG, "refused"));
        expect("which were decided about", decide(requeue, Set.of(first))).containsExactly(first);
        Claim due = claim();
        check(
            Collections.disjoint(ids(due), idsOf(messages).subList(1, 3)),
            "%s: a decision about another dead letter of the key lets messages pass one that %s",
            halts ? "O3" : "O2",
            halts ? "halts it" : "waits for its retry");
        if (halts) {
          expect("due behind one that halts its key", due.messages()).isEmpty();
          mustDiscard(first(second).sequence());
          assertCame("due at last", awaitDrained(requeue ? 2 : 1)).hasSize(requeue ? 2 : 1);
        }
      }
    }
  }

  @Rule("S2")
  @Sentence("dead letters are listed in sequence order, page by page")
  void pages() {
    DeadLetterStore letters = letters();
    committed(5, i -> "k" + i);
    decideAll(100, m -> dead(false));
    List<Long> all = sequences(listedDead());
    expect("the dead letters listed", all).hasSize(5).isSorted();
    List<Long> paged = new ArrayList<>();
    for (List<Long> page = sequences(letters.deadLetters(0, 2));
        !page.isEmpty() && paged.size() < 100;
        page = sequences(letters.deadLetters(paged.get(paged.size() - 1), 2))) {
      expect("size of a page of 2", page.size()).isLessThanOrEqualTo(2);
      paged.addAll(page);
    }
    expect("the same, in pages of 2", paged).isEqualTo(all);
  }

  private List<Long> sequences(List<DeadLetter> letters) {
    return letters.stream().map(letter -> letter.message().sequence()).toList();
  }

  @Rule("S2")
  @Sentence("what is no dead letter can be neither requeued nor discarded")
  void notDead() {
    letters();
    committed("k", 1);
    Claim claim = claim();
    long sequence = first(claim).sequence();
    for (long wrong : List.of(sequence, -1L, Long.MAX_VALUE)) {
      expect("whether it was requeued", requeue(wrong)).isFalse();
      expect("whether it was discarded", discard(wrong)).isFalse();
    }
    claim.settle(Map.of(sequence, Decision.dead("rejected")));
    mustRequeue(sequence);
    expect("requeued twice", requeue(sequence)).isFalse();
    die(false);
    mustDiscard(sequence);
    expect("discarded twice", discard(sequence)).isFalse();
    expect("requeued after discard", requeue(sequence)).isFalse();
    assertNothingDue("discarded");
  }

  // ---- several at once

  /** A key with this dead letter in front of a message that waits for its turn. */
  private record Dead(long sequence, OutboxMessage letter, OutboxMessage next) {}

  /** Settles the first message of each of these keys as dead, and none of the others. */
  private List<Dead> dead(List<String> orders, boolean haltsKey) {
    List<Dead> dead = new ArrayList<>();
    for (String order : orders) {
      List<OutboxMessage> messages = committed(order, 2);
      dead.add(new Dead(die(haltsKey), messages.get(0), messages.get(1)));
    }
    return dead;
  }

  private Set<Long> decide(boolean requeue, Set<Long> about) {
    return requeue ? letters().requeue(about, null) : letters().discard(about, null);
  }

  private static Set<Long> sequencesOf(List<Dead> dead) {
    return dead.stream().map(Dead::sequence).collect(Collectors.toSet());
  }

  @Rule("O3")
  @Sentence("several dead letters are decided about at once, and what is none of them is named")
  void several() {
    letters();
    for (boolean requeue : List.of(true, false)) {
      tck.prepare();
      List<Dead> halting = dead(List.of("a", "b"), true);
      List<Dead> passed = dead(List.of("c"), false);
      List<Dead> all = Stream.concat(halting.stream(), passed.stream()).toList();
      assertThat(listedDead())
          .as("the dead letters that halt their keys")
          .filteredOn(DeadLetter::haltsKey)
          .extracting(letter -> letter.message().sequence())
          .containsExactlyElementsOf(halting.stream().map(Dead::sequence).toList());
      OutboxMessage waiting = committed(message("d"));
      Set<Long> asked = new HashSet<>(sequencesOf(all));
      asked.add(Long.MAX_VALUE);
      expect(requeue ? "which were requeued" : "which were discarded", decide(requeue, asked))
          .isEqualTo(sequencesOf(all));
      expect(
              "which were %s twice".formatted(requeue ? "requeued" : "discarded"),
              decide(requeue, asked))
          .isEmpty();
      List<OutboxMessage> due = new ArrayList<>(List.of(waiting));
      all.forEach(dead -> due.add(dead.next()));
      if (requeue) {
        all.forEach(dead -> due.add(dead.letter()));
      }
      List<StoredMessage> came = awaitDrained(due.size());
      assertCame("what came in the end", came).inAnyOrder(due);
      expect("attempts, also of what was requeued", came).allMatch(m -> m.attempts() == 0);
      if (requeue) {
        halting.forEach(
            dead ->
                assertCame("a key that was halted goes on with its dead letter", came)
                    .containsInOrder(dead.letter(), dead.next()));
      }
    }
    expect("requeued of none", decide(true, Set.of())).isEmpty();
  }

  @Rule("O3")
  @Sentence("what is decided about several dead letters happens to all of them or to none")
  void severalOrNone() {
    BreaksConnections fixture = tck.fixture(BreaksConnections.class);
    breakingAtEachWrite(write -> broke(fixture, write, true));
    breakingAtEachWrite(write -> broke(fixture, write, false));
  }

  private boolean broke(BreaksConnections fixture, int write, boolean requeue) {
    tck.prepare();
    Set<Long> all = sequencesOf(dead(List.of("a", "b", "c"), true));
    boolean broke =
        fixture.breakingAtWrite(
            write,
            () -> {
              decide(requeue, all);
            });
    List<Long> left = sequences(listedDead());
    expect(
            "how many of 3 dead letters are left after write %s of a decision about all had broken"
                .formatted(write),
            left.size())
        .isIn(0, 3);
    decide(requeue, Set.copyOf(left));
    assertCame("what came when all were decided about", awaitDrained(requeue ? 6 : 3))
        .hasSize(requeue ? 6 : 3);
    return broke;
  }
}
