package dev.outbox.store.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.OutboxStore.Settled;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.core.FakeDatabase.Trouble;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

@DisplayName("Claims")
class ClaimsTest {
  static final ClaimRequest FOUR = new ClaimRequest("relay", 4, 1_000, Duration.ofSeconds(30));

  private FakeDatabase database = new FakeDatabase(true);
  private FakeStore store = new FakeStore(database);

  static List<Long> sequences(Claim claim) {
    return claim.messages().stream().map(StoredMessage::sequence).toList();
  }

  static Map<Long, Decision> delivered(Claim claim) {
    return sequences(claim).stream()
        .collect(Collectors.toMap(Function.identity(), sequence -> Decision.delivered()));
  }

  private Settled settleAndClaim(Claim done) {
    return store.settleAndClaim(done, delivered(done), FOUR);
  }

  private void leaseInTransaction() {
    database = new FakeDatabase(false);
    store = new FakeStore(database);
  }

  @AfterEach
  void nothingForbidden() {
    assertThat(database.misuse).isEmpty();
  }

  @Nested
  @DisplayName("settle and go on")
  class GoOn {

    @Test
    @DisplayName("with a bucket that has more, and others leased in the same transaction")
    void inTransaction() {
      leaseInTransaction();
      database.add(1, 1, 5);
      Claim first = store.claim(FOUR);
      database.add(2, 21, 22);
      database.asked.clear();

      assertThat(sequences(settleAndClaim(first).next())).containsExactly(5L, 21L, 22L);
      assertThat(database.asked)
          .as("statements, the lease in the midst")
          .startsWith("claim 1: lockHeld", "claim 1: delete")
          .contains("claim 1: lease");
    }

    @Test
    @DisplayName("with the kept bucket alone where a lease must come first, and say: poll again")
    void apart() {
      database.add(1, 1, 5);
      Claim first = store.claim(FOUR);
      database.add(2, 21, 22);

      Claim next = settleAndClaim(first).next();
      assertThat(sequences(next)).containsExactly(5L);
      assertThat(next.pollAgain()).as("poll again: bucket 2 was not looked at").isTrue();
      assertThat(database.asked)
          .filteredOn(s -> s.endsWith("lease"))
          .containsOnly("claim 1: lease");
      assertThat(database.closed()).as("the transactions were handed on").containsExactly(0);
    }

    @Test
    @DisplayName("by a claim of its own where nothing is to be kept")
    void anew() {
      database.add(1, 1, 2);
      Claim first = store.claim(FOUR);
      database.add(2, 21, 22);

      assertThat(sequences(settleAndClaim(first).next())).containsExactly(21L, 22L);
      assertThat(database.held()).containsExactly(2);
      assertThat(database.closed()).containsExactly(1, 0);
    }

    @Test
    @DisplayName("without a claim where that one fails: what is settled is not reported as lost")
    void claimFails() {
      database.add(1, 1, 2);
      Claim first = store.claim(FOUR);
      database.add(2, 21, 22);
      database.troubles.addAll(List.of(Trouble.NONE, Trouble.ROLLBACK)); // settled, not claimed

      Settled settled = settleAndClaim(first);
      assertThat(settled.lost()).isEmpty();
      assertThat(settled.next().messages()).isEmpty();
      assertThat(settled.next().pollAgain()).as("so that the next one meets the error").isTrue();
      assertThat(database.left()).containsExactly(21L, 22L);
    }

    @Test
    @DisplayName("by a claim of its own where what was kept brings nothing")
    void keptForNothing() {
      database.add(1, 1, 4);
      Claim first = store.claim(FOUR);
      database.add(2, 21, 22);

      assertThat(sequences(settleAndClaim(first).next())).containsExactly(21L, 22L);
      assertThat(database.asked).contains("claim 1: readPending", "claim 2: lease");
      assertThat(database.held()).containsExactly(2);
      assertThat(database.closed()).containsExactly(1, 0);
    }

    @Test
    @DisplayName("past a bucket whose messages must all be moved")
    void pastMoves() {
      database.add(1, 1, true);
      database.add(2, 21, 22);
      Claim claim = store.claim(new ClaimRequest("relay", 1, 1_000, Duration.ofSeconds(30)));

      assertThat(sequences(claim)).containsExactly(21L);
      assertThat(database.left()).containsExactly(21L, 22L);
      assertThat(database.closed()).containsExactly(1, 0);
    }

    @Test
    @DisplayName("and the claim that was gone on from is over")
    void over() {
      database.add(1, 1, 8);
      Claim first = store.claim(FOUR);
      Claim next = settleAndClaim(first).next();

      assertThat(first.renew(Duration.ofSeconds(1))).isEmpty();
      assertThat(first.settle(delivered(first)))
          .as("lost")
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
      assertThat(next.settle(delivered(next))).as("lost").isEmpty();
      assertThat(database.left()).isEmpty();
    }
  }

  @Nested
  @DisplayName("close a claim's transactions once")
  class Close {

    @Test
    @DisplayName("when it is settled, also twice")
    void settled() {
      database.add(1, 1, 4);
      Claim claim = store.claim(FOUR);
      assertThat(database.closed()).containsExactly(0);
      assertThat(claim.settle(delivered(claim))).as("lost").isEmpty();
      assertThat(database.asked).endsWith("claim 1: release");
      assertThat(database.closed()).containsExactly(1);

      assertThat(claim.settle(delivered(claim))).as("lost, when repeated").hasSize(4);
      assertThat(database.asked).endsWith("store: lockHeld");
      assertThat(database.closed()).containsExactly(1);
    }

    @Test
    @DisplayName("when it is empty")
    void empty() {
      Claim claim = store.claim(FOUR);
      assertThat(claim.messages()).isEmpty();
      assertThat(claim.settle(Map.of())).isEmpty();
      assertThat(database.closed()).containsExactly(1);
    }

    @Test
    @DisplayName("when the claim that went on from it is settled")
    void handedOn() {
      database.add(1, 1, 8);
      Claim next = settleAndClaim(store.claim(FOUR)).next();
      assertThat(database.closed()).containsExactly(0);
      assertThat(next.settle(delivered(next))).as("lost").isEmpty();
      assertThat(database.closed()).containsExactly(1);
    }

    @Test
    @DisplayName("when claiming fails")
    void failed() {
      database.add(1, 1, 4);
      database.troubles.add(Trouble.ROLLBACK);
      assertThatThrownBy(() -> store.claim(FOUR)).isInstanceOf(TransientOutboxException.class);
      assertThat(database.closed()).containsExactly(1);
    }

    @Test
    @DisplayName("not when settling fails, but when it is tried again")
    void settledAgain() {
      database.add(1, 1, 8);
      Claim claim = store.claim(FOUR);
      database.troubles.add(Trouble.LOST_REPLY);
      assertThatThrownBy(() -> settleAndClaim(claim)).isInstanceOf(TransientOutboxException.class);
      assertThat(database.closed()).containsExactly(0);

      assertThat(claim.settle(delivered(claim))).as("lost").isEmpty();
      assertThat(database.closed()).containsExactly(1);
      assertThat(database.left()).containsExactly(5L, 6L, 7L, 8L);
    }
  }

  @Test
  @DisplayName("lease as the same owner again when their transaction is run again")
  void sameOwner() {
    database.add(1, 1, 2);
    database.troubles.add(Trouble.CONFLICT);
    assertThat(sequences(store.claim(FOUR))).containsExactly(1L, 2L);
  }
}
