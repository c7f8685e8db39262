package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.BreaksConnections;
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

/** O3: dead letters, those that halt their key, and what people decide about them. */
@Rule("O3")
abstract class DeadLetterTests<T> extends StoreTests<T> {
  private void mustRequeue(long sequence) {
    expect("whether it was requeued", requeue(sequence)).isTrue();
  }

  private void mustDiscard(long sequence) {
    expect("whether it was discarded", discard(sequence)).isTrue();
  }

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

  @Sentence(
      "behind a dead letter that halts its key a low sequence that commits late waits too, and is not lost")
  void blocksLateCommit() {
    letters();
    OutboxMessage low = message("k").build();
    try (OpenWork<T> late = open()) {
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
              Set<Long> ignored = decide(requeue, all);
            });
    List<Long> left = sequences(listedDead());
    assertThat(left.size())
        .as(
            "how many of 3 dead letters are left after write %s of a decision about all had broken",
            write)
        .isIn(0, 3);
    Set<Long> ignored = decide(requeue, Set.copyOf(left));
    assertCame("what came when all were decided about", awaitDrained(requeue ? 6 : 3))
        .hasSize(requeue ? 6 : 3);
    return broke;
  }
}
