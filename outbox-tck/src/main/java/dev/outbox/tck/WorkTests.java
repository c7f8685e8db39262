package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
import dev.outbox.spi.StoredMessage;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** C5, by counted work. */
abstract class WorkTests<T> extends StoreTests<T> {
  private static final int FEW = 300;
  private static final int MANY = 9_000;
  private static final int BATCH = 20;

  private CountsWork<T> fixture;

  @SuppressWarnings("NullAway.Init") // set before each test
  WorkTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @BeforeEach
  void unlock() {
    fixture = tck.fixture(CountsWork.class);
  }

  /**
   * The work of a claim after {@code build} made what waits, with enough due messages beside it.
   * The least of some claims, because now and then one does a chore, as moving a message aside.
   */
  private long work(int size, IntConsumer build) {
    tck.prepare();
    build.accept(size);
    commit(IntStream.range(0, 2 * BATCH).mapToObj(i -> message("due" + i).build()).toList());
    fixture.backlogBuilt();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      CountsWork.Counted counted = fixture.countedClaim(store(), request(BATCH, LONG));
      if (!counted.claim().messages().isEmpty()) {
        least = Math.min(least, counted.work());
      }
      release(counted.claim());
    }
    assertThat(least).as("counted work of a claim that brings something").isBetween(1L, 1L << 40);
    return least;
  }

  private void assertDoesNotGrow(String what, IntConsumer build) {
    long few = work(FEW, build);
    long many = work(MANY, build);
    assertThat(many)
        .as("work of a claim beside %,d %s; beside %,d it is %,d", MANY, what, FEW, few)
        .isLessThanOrEqualTo(3 * few + 50);
  }

  private void commitEach(int size, IntFunction<OutboxMessage> message) {
    for (int from = 0; from < size; from += 1_000) {
      commit(IntStream.range(from, Math.min(size, from + 1_000)).mapToObj(message).toList());
    }
  }

  private void decideAll(Function<StoredMessage, Decision> decision) {
    for (Claim claim = claim(request(1_000, LONG));
        !claim.messages().isEmpty();
        claim = claim(request(1_000, LONG))) {
      Map<Long, Decision> decisions =
          claim.messages().stream().collect(Collectors.toMap(StoredMessage::sequence, decision));
      settle(claim, decisions);
    }
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more messages of many keys wait")
  void manyKeys() {
    assertDoesNotGrow(
        "messages of as many keys", size -> commitEach(size, i -> message("k" + i).build()));
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more messages of few keys wait")
  void fewKeys() {
    assertDoesNotGrow(
        "messages of three keys", size -> commitEach(size, i -> message("k" + i % 3).build()));
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more keys wait for a retry")
  void failingKeys() {
    assertDoesNotGrow(
        "keys that wait for a retry",
        size -> {
          commitEach(size, i -> message("k" + i).build());
          decideAll(m -> Decision.retry(LONG, true, "refused"));
        });
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more messages wait behind a failing head")
  void blockedFollowers() {
    assertDoesNotGrow(
        "messages behind a head that waits for a retry",
        size -> {
          committed("k", 1);
          decideAll(m -> Decision.retry(LONG, true, "refused"));
          commitEach(size, i -> message("k").build());
          decideAll(m -> Decision.delivered()); // nothing is due; a store may move them aside
        });
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more delayed messages there are")
  void delayed() {
    assertDoesNotGrow(
        "delayed messages",
        size -> commitEach(size, i -> message("k" + i % 100).deliverAfter(LONG).build()));
  }

  @Test
  @Rule("C5")
  @DisplayName("a claim does not cost more the more dead letters there are")
  void deadLetters() {
    assertDoesNotGrow(
        "dead letters",
        size -> {
          commitEach(size, i -> message("k" + i % 100).build());
          decideAll(m -> Decision.dead("rejected", false));
        });
  }
}
