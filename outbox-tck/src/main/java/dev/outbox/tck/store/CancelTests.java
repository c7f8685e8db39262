package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.opentest4j.TestAbortedException;

/** S8: messages that are cancelled before they are due. */
@DisplayName("Cancel")
@Rule("S8")
abstract class CancelTests<T> extends StoreTests<T> {
  /** So often so many are cancelled while they become due. */
  private static final int ROUNDS = 10;

  private static final int RACING = 40;

  @BeforeEach
  void unlock() {
    skipUnlessItCancels(letters());
  }

  static void skipUnlessItCancels(DeadLetterStore store) {
    try {
      store.cancel(Set.of(), null);
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: the store cannot cancel messages");
    }
  }

  private Set<Long> cancel(Long... sequences) {
    return letters().cancel(Set.of(sequences), null);
  }

  private boolean isCancelled(long sequence) {
    return !cancel(sequence).isEmpty();
  }

  /** Of messages that nobody has claimed. */
  private Map<UUID, Long> sequences() {
    InspectionStore store = tck.ability(InspectionStore.class);
    return store.messages(InspectionStore.Query.first(1_000)).found().stream()
        .collect(Collectors.toMap(one -> UUID.fromString(one.id()), Listed::sequence));
  }

  private long delayed(String order) {
    OutboxMessage message = committed(message(order).deliverAfter(LONG));
    return requireNonNull(sequences().get(message.id()), "the message is not listed (F2)");
  }

  @Sentence("what is cancelled before it is due is gone, and the rest of its key keeps its order")
  void cancels() {
    List<OutboxMessage> rest = new ArrayList<>(committed("k", 2));
    long delayed = delayed("k");
    rest.addAll(committed("k", 2));
    expect("whether a delayed message was cancelled", isCancelled(delayed)).isTrue();
    expect("whether it was cancelled twice", isCancelled(delayed)).isFalse();
    expect("dead letters", listedDead()).isEmpty();
    assertCame("around one that was cancelled", drain()).inOrder(rest);
  }

  @Sentence("one that is not due is cancelled also where its key waits, and no dead letter is")
  void cancelsOfAHaltedKey() {
    OutboxMessage next = committed("k", 2).get(1);
    long delayed = delayed("k");
    long dead = die(true);
    expect("which were cancelled", cancel(dead, delayed, Long.MAX_VALUE))
        .isEqualTo(Set.of(delayed));
    assertNothingDue("behind a dead letter that halts its key");
    expect("whether it was discarded", discard(dead)).isTrue();
    assertCame("behind a dead letter that was discarded", awaitDrained(1)).inOrder(next);
  }

  @Sentence("one that a claim has had stays, whether it is delivered, given back or tried again")
  void tooLate() {
    for (Duration retry : List.of(Duration.ZERO, LONG)) {
      tck.prepare();
      OutboxMessage message = committed(message("k").deliverAfter(soon()));
      Claim claim = awaitClaim("a delayed message");
      long sequence = first(claim).sequence();
      expect("whether it was cancelled while it is claimed", isCancelled(sequence)).isFalse();
      release(claim);
      expect("whether it was cancelled when it is due", isCancelled(sequence)).isFalse();
      retryFirst(claim(), retry, true);
      expect("whether it was cancelled while it waits for its retry", isCancelled(sequence))
          .isFalse();
      if (retry.isZero()) {
        assertCame("what nobody could cancel", awaitDrained(1)).inOrder(message);
      }
    }
  }

  @Tag("slow")
  @Sentence(
      "one that is cancelled in the moment in which it becomes due goes one way, and not both")
  void becomesDue() {
    becomesDue(store());
    if (store() instanceof KeepingStore<?> able) { // where a relay keeps its key, too
      becomesDue(able.keeper(LONG));
    }
  }

  /** A millisecond apart: some have come when the others are cancelled. */
  private void becomesDue(Claim.Source by) {
    int raced = 0;
    for (int round = 0; round < ROUNDS; round++) {
      List<OutboxMessage> messages =
          IntStream.range(0, RACING)
              .mapToObj(i -> message("k" + i).deliverAfter(soon().plusMillis(i)).build())
              .toList();
      commit(messages);
      Map<UUID, Long> sequences = sequences();
      Set<UUID> came = ConcurrentHashMap.newKeySet();
      AtomicBoolean over = new AtomicBoolean();
      InThread<Boolean> relay = new InThread<>("claiming", () -> deliver(by, came, over));
      Set<UUID> cancelled = new HashSet<>(sequences.keySet());
      try {
        await(
            "the first message that becomes due",
            () -> relay.isDone() || !came.isEmpty() ? true : null);
        Set<Long> said = cancel(sequences.values().toArray(Long[]::new));
        cancelled.removeIf(id -> !said.contains(sequences.get(id)));
        await(
            "what was not cancelled",
            () -> relay.isDone() || came.size() + cancelled.size() >= RACING ? true : null);
        letLeaseEnd(); // one whose cancel is undone comes now
      } finally {
        over.set(true);
      }
      expect("whether all could be delivered", tck.call("the last claim", relay::join)).isTrue();
      assertThat(cancelled).as("those that were cancelled and came").noneMatch(came::contains);
      assertCame("all were delivered or cancelled", claim(by)).isEmpty();
      raced += cancelled.isEmpty() || cancelled.size() == RACING ? 0 : 1;
    }
    skipUnless(raced != 0, "in no round some messages came and others were cancelled");
  }

  private boolean deliver(Claim.Source by, Set<UUID> came, AtomicBoolean over) {
    while (!over.get()) {
      Claim claim = by.claim(request(100, LONG));
      claim.messages().stream().map(StoredMessage::message).forEach(m -> came.add(m.id()));
      if (!claim.settle(all(claim, Decision.delivered())).isEmpty()) {
        return false;
      }
    }
    return true;
  }
}
