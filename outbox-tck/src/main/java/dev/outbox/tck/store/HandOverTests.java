package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.all;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;

/** C9. A store may hand a message over or not: what is said holds for what it does not, too. */
@DisplayName("Hand-over")
@Rule("C9")
abstract class HandOverTests<T> extends KeeperTests<T> {
  /** Appends and commits; that has not been said yet. */
  private Uncommitted append(Keeper keeper, OutboxMessage... messages) {
    return tck.commit(t -> keeping().append(keeper, t, List.of(messages)));
  }

  private void handOver(Keeper keeper, OutboxMessage... messages) {
    Committed ignored = append(keeper, messages).committed();
  }

  private static OutboxMessage message() {
    return message("k").build();
  }

  @Sentence("what is handed over comes once, in order, as it was appended")
  void once() {
    Keeper keeper = keeperOfKey();
    for (int i = 0; i < 10; i++) {
      OutboxMessage first = message("k").header("n", "" + i).correlationId("c").build();
      OutboxMessage second = message();
      handOver(keeper, first, second);
      Claim claim = awaitClaim("what was handed over", keeper, 1);
      assertThat(first(claim).message()).isEqualTo(first);
      Set<Long> lost = settleAndGoOn(keeper, claim, delivered(claim));
      expect("lost by those to whom it was handed over", lost).isEmpty();
      assertDelivered("what was appended with it", keeper, List.of(second.id()));
    }
    assertNothingIsLeft(keeper);
  }

  private void assertNothingIsLeft(Keeper keeper) {
    assertCame("due after all came", claim(keeper, request(100, LONG))).isEmpty();
    keeper.close();
    assertNothingDue("all was delivered");
  }

  @Sentence("what nobody says to be committed comes from a claim")
  void unsaid() {
    Keeper keeper = keeperOfKey();
    OutboxMessage message = message();
    Uncommitted ignored = append(keeper, message);
    assertDelivered("a message of which nobody said more", keeper, List.of(message.id()));
    assertNothingIsLeft(keeper);
  }

  @Sentence("what is rolled back does not come")
  void rolledBack() {
    Keeper keeper = keeperOfKey();
    Uncommitted ignored = tck.rollBack(t -> keeping().append(keeper, t, List.of(message())));
    assertNothingIsLeft(keeper);
  }

  @Sentence("what is handed over comes behind an older message of its key")
  void behindOlder() {
    Keeper keeper = keeperOfKey();
    OutboxMessage older = message();
    OutboxMessage message = message();
    commit(List.of(older));
    handOver(keeper, message);
    assertDelivered("both", keeper, idsOf(older, message));
    assertNothingIsLeft(keeper);
  }

  @Sentence("what is handed over waits behind a message of its key that waits")
  void waits() {
    Keeper keeper = keeperOfKey();
    commit(List.of(message()));
    Claim claim = awaitClaim("a message", keeper, 100);
    settleAndGoOn(keeper, claim, all(claim, Decision.retry(LONG, "refused")));
    handOver(keeper, message());
    assertCame("due behind one that waits", claim(keeper, request(100, LONG))).isEmpty();
  }

  @Rule({"C9", "C10"})
  @Sentence("what expired comes as that, and what is behind it of its key comes next")
  void handOverExpired() {
    tck.fixture(ExpiresMessages.class);
    Keeper keeper = keeperOfKey();
    OutboxMessage next = message();
    handOver(keeper, message("k").expiresAt(ExpiryTests.OVER).build());
    handOver(keeper, next);
    Claim claim = awaitClaim("what expired", keeper, 1);
    expect("expired", first(claim).expired()).isTrue();
    Set<Long> lost = settleAndGoOn(keeper, claim, all(claim, Decision.expired()));
    expect("lost by those for whom the key is kept", lost).isEmpty();
    assertDelivered("what was appended behind it", keeper, List.of(next.id()));
    assertNothingIsLeft(keeper);
  }

  @Sentence("what was claimed before somebody said that it is committed does not come again")
  void late() {
    Keeper keeper = keeperOfKey();
    OutboxMessage message = message();
    Uncommitted slow = append(keeper, message);
    assertDelivered("the message", keeper, List.of(message.id()));
    Committed ignored = slow.committed();
    assertNothingIsLeft(keeper);
  }

  @Rule({"C9", "C8"})
  @Sentence("what another took over is not taken from it")
  void takeover() {
    Keeper keeper = keeperThatStandsStill();
    Uncommitted slow = append(keeper, message());
    Claim others = awaitClaim("the end of the lease of a relay that stood still");
    Committed ignored = slow.committed();
    Claim late = claim(keeper, request(100, LONG));
    if (!late.messages().isEmpty()) {
      expect("lost by the one that had kept the key", settle(late, Decision.delivered()))
          .isEqualTo(late.messages().stream().map(m -> m.sequence()).collect(toSet()));
    }
    expect("lost by the one that took over", settle(others, Decision.delivered())).isEmpty();
  }
}
