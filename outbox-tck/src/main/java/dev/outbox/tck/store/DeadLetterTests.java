package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.DeadLetterStore.HaltedKey;
import dev.outbox.spi.store.Decision;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;

/** O3: dead letters, those that halt their key, and what people decide about them. */
@DisplayName("Dead letters")
@Rule("O3")
abstract class DeadLetterTests<T> extends StoreTests<T> {
  /** A decision about three dead letters that needs more is not broken at each of them. */
  private static final int MOST_WRITES = 15;

  private DeadLetterStore letters() {
    return tck.ability(DeadLetterStore.class);
  }

  /** Settles the head of the only due key as dead, and returns its sequence. */
  private long die(boolean haltsKey) {
    Claim claim = awaitClaim("a message to settle as dead");
    long sequence = first(claim).sequence();
    settle(claim, Map.of(sequence, dead(haltsKey)));
    return sequence;
  }

  private void requeue(long sequence) {
    expect("whether it was requeued", call("requeue", () -> letters().requeue(sequence))).isTrue();
  }

  private void discard(long sequence) {
    expect("whether it was discarded", call("discard", () -> letters().discard(sequence))).isTrue();
  }

  @Sentence("a dead letter lets its successors pass")
  void successorsPass() {
    List<OutboxMessage> messages = committed("k", 3);
    die(false);
    assertCame("due behind a dead letter", drain()).inOrder(messages.subList(1, 3));
  }

  @Sentence(
      "a dead letter that halts its key holds back the key, for later appends too, and no other key")
  void haltsKey() {
    committed("k", 3);
    die(true);
    assertNothingDue("behind a dead letter that halts its key");
    committed("k", 2);
    OutboxMessage other = committed(message("other"));
    assertCame("due beside a blocked key, and messages appended to it", drain()).inOrder(other);
    assertNothingDue("a blocked key stays blocked");
  }

  @Sentence(
      "behind a dead letter that halts its key a delayed message of the key waits too, even when it is due")
  void blocksDelayed() {
    committed("k", 1);
    committed(message("k").deliverAfter(tck.shortTime()));
    Claim claim = claim();
    settle(claim, Map.of(first(claim).sequence(), Decision.deadHaltingKey("rejected")));
    OutboxMessage clock = committed(message("clock").deliverAfter(tck.shortTime()));
    assertCame("what is due now", awaitDrained(1)).inOrder(clock);
  }

  @Sentence(
      "behind a dead letter that halts its key a low sequence that commits late waits too, and is not lost")
  void blocksLateCommit() {
    letters();
    OutboxMessage low = message("k").build();
    try (OpenTransaction<T> late = open()) {
      late.append(low);
      List<OutboxMessage> high = committed("k", 2);
      long dead = die(true);
      late.commit();
      assertNothingDue("committed late to a blocked key");
      discard(dead);
      assertCame("due after the dead letter was discarded", awaitDrained(2))
          .inAnyOrder(low, high.get(1));
    }
  }

  @Sentence("requeue of the dead letter that blocks: the key goes on with it first, in order")
  void requeueBlocking() {
    List<OutboxMessage> messages = new ArrayList<>(committed("k", 3));
    long dead = die(true);
    messages.addAll(committed("k", 1));
    requeue(dead);
    Claim claim = awaitClaim("the requeued dead letter");
    expect("sequence of the head", first(claim).sequence()).isEqualTo(dead);
    expect("attempts of a requeued message", first(claim).attempts()).isZero();
    release(claim);
    assertCame("what came in the end", awaitDrained(4)).inOrder(messages);
    expect("the dead letters listed", letters().deadLetters(0, 10)).isEmpty();
  }

  @Sentence("a list of no dead letters is refused, not taken for an empty one")
  void limitOfAList() {
    DeadLetterStore letters = letters();
    for (int limit : new int[] {0, -1}) {
      assertThatThrownBy(() -> letters.deadLetters(0, limit))
          .as("deadLetters with a limit of %d", limit)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(String.valueOf(limit));
    }
  }

  @Sentence("discard of the dead letter that blocks: the key goes on without it")
  void discardBlocking() {
    List<OutboxMessage> messages = new ArrayList<>(committed("k", 3));
    long dead = die(true);
    messages.addAll(committed("k", 1));
    discard(dead);
    assertCame("what came in the end", awaitDrained(3)).inOrder(messages.subList(1, 4));
    committed("k", 1);
    assertCame("due, appended after the key was free again", drain()).hasSize(1);
  }

  @Sentence("deciding about the only message of a blocked key frees it")
  void onlyMessage() {
    committed("k", 1);
    requeue(die(true));
    assertCame("due after requeue", awaitDrained(1)).hasSize(1);
    committed("k", 1);
    discard(die(true));
    assertNothingDue("the dead letter was discarded");
    committed("k", 1);
    assertCame("due after discard", drain()).hasSize(1);
  }

  @Sentence("whatever the key holds, its dead letter blocks it until it is discarded")
  void discardBlockingWhateverTheKey() {
    for (String key : FieldTests.NASTY) {
      tck.prepare();
      List<OutboxMessage> messages = committed(key, 2);
      long dead = die(true);
      assertNothingDue("behind a dead letter that halts the key " + shown(key));
      discard(dead);
      assertCame(
              "behind the discarded dead letter of the key %s".formatted(shown(key)),
              awaitDrained(1))
          .inOrder(messages.get(1));
    }
  }

  @Sentence("a requeued dead letter that dies again halts its key again")
  void diesAgain() {
    List<OutboxMessage> messages = committed("k", 2);
    requeue(die(true));
    long again = die(true);
    assertNothingDue("behind a dead letter that halts its key again");
    discard(again);
    assertCame("what came in the end", awaitDrained(1)).inOrder(messages.get(1));
  }

  @Sentence("a decision about another dead letter of the key does not free it")
  void otherDeadLetter() {
    letters();
    for (boolean requeue : List.of(true, false)) {
      tck.prepare();
      committed("k", 3);
      long first = die(false);
      long second = die(true);
      if (requeue) {
        requeue(first);
      } else {
        discard(first);
      }
      assertNothingDue("blocked by another dead letter than the one decided about");
      discard(second);
      assertCame("due at last", awaitDrained(requeue ? 2 : 1)).hasSize(requeue ? 2 : 1);
    }
  }

  @Sentence("a dead letter that does not block is requeued while its key is claimed or waits")
  void requeueWhileBusy() {
    List<OutboxMessage> messages = committed("k", 3);
    long dead = die(false);
    Claim claim = claim(1, LONG);
    requeue(dead);
    settle(claim, Decision.retry(tck.shortTime(), "refused"));
    List<UUID> came = ids(awaitDrained(3));
    requires("O2", () -> assertCame(came).containsInOrder(messages.get(1), messages.get(2)));
    assertCame("what came in the end", came).inAnyOrder(messages);
  }

  @Sentence("a dead letter and its successors never come in one claim")
  void neverInOneClaim() {
    List<OutboxMessage> messages = committed("k", 4);
    Set<UUID> dead = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      Claim claim = claim();
      expect("a claim after %d messages died".formatted(i), ids(claim)).noneMatch(dead::contains);
      expect("the head of the key", id(first(claim))).isEqualTo(messages.get(i).id());
      dead.add(id(first(claim)));
      settle(claim, Map.of(first(claim).sequence(), Decision.dead("rejected")));
    }
    assertCame("came at last", drain()).inOrder(messages.get(3));
  }

  @Rule("S2")
  @Sentence("dead letters are listed in sequence order, page by page")
  void pages() {
    DeadLetterStore letters = letters();
    for (int i = 0; i < 5; i++) {
      committed("k" + i, 1);
    }
    for (Claim claim = claim(); !claim.messages().isEmpty(); claim = claim()) {
      settle(claim, Decision.dead("rejected"));
    }
    List<Long> all = sequences(letters.deadLetters(0, 100));
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
    DeadLetterStore letters = letters();
    committed("k", 1);
    Claim claim = claim();
    long sequence = first(claim).sequence();
    for (long wrong : List.of(sequence, -1L, Long.MAX_VALUE)) {
      expect("whether it was requeued", call("requeue", () -> letters.requeue(wrong))).isFalse();
      expect("whether it was discarded", call("discard", () -> letters.discard(wrong))).isFalse();
    }
    settle(claim, Map.of(sequence, Decision.dead("rejected")));
    requeue(sequence);
    expect("requeued twice", letters.requeue(sequence)).isFalse();
    die(false);
    discard(sequence);
    expect("discarded twice", letters.discard(sequence)).isFalse();
    expect("requeued after discard", letters.requeue(sequence)).isFalse();
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
      Claim claim = claimOf(order);
      long sequence =
          claim.messages().stream()
              .filter(message -> id(message).equals(messages.get(0).id()))
              .findFirst()
              .orElseThrow()
              .sequence();
      settle(claim, Map.of(sequence, dead(haltsKey)));
      dead.add(new Dead(sequence, messages.get(0), messages.get(1)));
    }
    return dead;
  }

  private static Set<Long> sequencesOf(List<Dead> dead) {
    return dead.stream().map(Dead::sequence).collect(Collectors.toSet());
  }

  @Sentence("several dead letters are decided about at once, and what is none of them is named")
  void several() {
    DeadLetterStore letters = letters();
    for (boolean requeue : List.of(true, false)) {
      tck.prepare();
      List<Dead> halting = dead(List.of("a", "b"), true);
      List<Dead> passed = dead(List.of("c"), false);
      List<Dead> all = Stream.concat(halting.stream(), passed.stream()).toList();
      List<UUID> waiting = idsOf(committed("d", 1));
      Set<Long> asked = new HashSet<>(sequencesOf(all));
      asked.add(Long.MAX_VALUE);
      assertThat(call("decide", () -> requeue ? letters.requeue(asked) : letters.discard(asked)))
          .as("which were %s", requeue ? "requeued" : "discarded")
          .isEqualTo(sequencesOf(all));
      assertThat(call("decide", () -> requeue ? letters.requeue(asked) : letters.discard(asked)))
          .as("which were %s twice", requeue ? "requeued" : "discarded")
          .isEmpty();
      List<UUID> due = new ArrayList<>(waiting);
      all.forEach(dead -> due.add(dead.next().id()));
      if (requeue) {
        all.forEach(dead -> due.add(dead.letter().id()));
      }
      List<UUID> came = ids(awaitDrained(due.size()));
      assertCame("what came in the end", came).inAnyOrder(due);
      if (requeue) {
        halting.forEach(
            dead ->
                assertCame("a key that was halted goes on with its dead letter", came)
                    .containsInOrder(dead.letter(), dead.next()));
      }
    }
    expect("requeued of none", call("requeue of none", () -> letters.requeue(Set.of()))).isEmpty();
  }

  @Sentence("what is decided about several dead letters happens to all of them or to none")
  void severalOrNone() {
    BreaksConnections fixture = tck.fixture(BreaksConnections.class);
    for (boolean requeue : List.of(true, false)) {
      boolean broke = true;
      for (int write = 1; broke && write <= MOST_WRITES; write++) {
        tck.prepare();
        DeadLetterStore letters = letters();
        Set<Long> all = sequencesOf(dead(List.of("a", "b", "c"), true));
        broke =
            fixture.breakingAtWrite(
                write,
                () -> {
                  Set<Long> ignored = requeue ? letters.requeue(all) : letters.discard(all);
                });
        List<Long> left = sequences(call("deadLetters", () -> letters.deadLetters(0, 10)));
        assertThat(left.size())
            .as(
                "how many of 3 dead letters are left after write %d of a decision about all had broken",
                write)
            .isIn(0, 3);
        Set<Long> rest = Set.copyOf(left);
        Set<Long> ignored =
            call("decide", () -> requeue ? letters.requeue(rest) : letters.discard(rest));
        assertCame("what came when all were decided about", awaitDrained(requeue ? 6 : 3))
            .hasSize(requeue ? 6 : 3);
      }
    }
  }

  @Sentence("which dead letters halt their keys is listed, and which keys are halted")
  void listsWhatHalts() {
    DeadLetterStore letters = letters();
    List<Dead> halting = dead(List.of("a", "b"), true);
    List<Dead> passed = dead(List.of("c"), false);
    assertThat(call("deadLetters", () -> letters.deadLetters(0, 10)))
        .as("the dead letters that halt their keys")
        .filteredOn(DeadLetter::haltsKey)
        .extracting(letter -> letter.message().sequence())
        .containsExactlyElementsOf(halting.stream().map(Dead::sequence).toList());
    expect("halted keys", call("haltedKeys", () -> letters.haltedKeys(10)))
        .containsExactlyInAnyOrder(
            new HaltedKey(key("a"), halting.get(0).sequence()),
            new HaltedKey(key("b"), halting.get(1).sequence()));
    expect("one halted key", call("haltedKeys", () -> letters.haltedKeys(1))).hasSize(1);
    assertThatThrownBy(() -> letters.haltedKeys(0))
        .as("haltedKeys with a limit of 0")
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0");
    discard(halting.get(0).sequence());
    requeue(halting.get(1).sequence());
    discard(passed.get(0).sequence());
    assertThat(call("haltedKeys", () -> letters.haltedKeys(10)))
        .as("halted keys when all were decided about")
        .isEmpty();
  }
}
