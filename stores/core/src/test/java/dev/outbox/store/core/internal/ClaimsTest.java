package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.FakeDatabase.Trouble;
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
  static final Claim.Request FOUR = new Claim.Request("relay", 4, 1_000, Duration.ofSeconds(30));

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
      assertThat(database.asked).as("read once").containsOnlyOnce("claim 1: readPending");
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
      Claim claim = store.claim(new Claim.Request("relay", 1, 1_000, Duration.ofSeconds(30)));

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
      assertThat(settleAndClaim(first).lost())
          .as("lost, when it is gone on from again")
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
      assertThat(next.settle(delivered(next))).as("lost").isEmpty();
      assertThat(database.left()).isEmpty();
    }
  }

  @Test
  @DisplayName("lease as the same claim again when their transaction is run again")
  void sameOwner() {
    database.add(1, 1, 2);
    database.troubles.add(Trouble.CONFLICT);
    assertThat(sequences(store.claim(FOUR))).containsExactly(1L, 2L);
  }

  @Nested
  @DisplayName("keep buckets that have more")
  class Keep {
    private static final Claim.Request SIX =
        new Claim.Request("relay", 6, 1_000, Duration.ofSeconds(30));

    @Test
    @DisplayName("for 100 ms, and then give up half of them, so that others find them free")
    void forATime() {
      leaseInTransaction();
      List.of(1, 2, 3).forEach(bucket -> database.add(bucket, bucket * 100, bucket * 100 + 50));
      Claim claim = store.claim(SIX);
      database.clock += Duration.ofMillis(100).toNanos() - 1;
      claim = store.settleAndClaim(claim, delivered(claim), SIX).next();
      assertThat(database.released).isEmpty();

      database.clock++;
      claim = store.settleAndClaim(claim, delivered(claim), SIX).next();
      assertThat(database.held()).as("of three").hasSize(1);
      assertThat(claim.pollAgain()).as("the others have more").isTrue();

      claim = store.settleAndClaim(claim, delivered(claim), SIX).next();
      assertThat(database.held()).as("when the last was given up too").hasSize(3);
    }

    @Test
    @DisplayName("not with a message that got no decision: it would come again and again")
    void undecided() {
      database.add(1, 1, 9);
      Claim claim = store.claim(FOUR);
      Map<Long, Decision> decisions = delivered(claim);
      decisions.remove(4L);
      Claim next = store.settleAndClaim(claim, decisions, FOUR).next();
      assertThat(sequences(next)).containsExactly(4L, 5L, 6L, 7L);
      assertThat(database.closed()).as("leased anew").containsExactly(1, 0);
    }

    @Test
    @DisplayName(
        "not when they hand out singly: a repeated settle would take an attempt back twice")
    void singly() {
      database.singly = true;
      database.add(1, 1, 5);
      Claim claim = store.claim(FOUR);
      assertThat(sequences(claim)).containsExactly(1L);
      assertThat(sequences(settleAndClaim(claim).next())).containsExactly(2L);
      assertThat(database.closed()).as("leased anew").containsExactly(1, 0);
    }

    @Test
    @DisplayName("and lease no more than the most together with those")
    void most() {
      leaseInTransaction();
      database.add(1, 1, 5);
      Claim claim = store.claim(FOUR);
      List.of(2, 3, 4).forEach(bucket -> database.add(bucket, bucket * 100, bucket * 100));
      assertThat(sequences(settleAndClaim(claim).next())).containsExactly(5L, 200L, 300L);
      assertThat(database.held()).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    @DisplayName("and prolong them when less than a lease is left")
    void prolonged() {
      database.add(1, 1, 30);
      database.left = FOUR.lease();
      Claim claim = settleAndClaim(store.claim(FOUR)).next();
      assertThat(database.asked).as("with a whole lease left").doesNotContain("claim 1: renew");

      database.left = FOUR.lease().minusNanos(1);
      Settled ignored = settleAndClaim(claim);
      assertThat(database.asked).contains("claim 1: renew");
    }

    @Test
    @DisplayName("and say when they give them back how many messages had a decision")
    void decided() {
      database.add(1, 1, 4);
      Claim claim = store.claim(FOUR);
      Map<Long, Decision> decisions = delivered(claim);
      decisions.remove(4L);
      assertThat(claim.settle(decisions)).as("lost").isEmpty();
      assertThat(database.released)
          .singleElement()
          .satisfies(r -> assertThat(r.decided()).isEqualTo(3))
          .satisfies(r -> assertThat(r.settled()).isTrue());
    }
  }

  @Test
  @DisplayName("say of which messages they lost the bucket, in every operation (S1)")
  void partlyLost() {
    database.add(1, 1, 2);
    database.add(2, 21, 22);
    Claim claim = store.claim(FOUR);
    assertThat(sequences(claim)).containsExactly(1L, 2L, 21L, 22L);
    database.lose(2);
    assertThat(claim.renew(FOUR.lease())).as("renewed").containsExactlyInAnyOrder(1L, 2L);
    assertThat(settleAndClaim(claim).lost()).containsExactlyInAnyOrder(21L, 22L);
    assertThat(database.left()).containsExactly(21L, 22L);
  }

  @Test
  @DisplayName("let go of what they have leased when they cannot go on after moving messages aside")
  void movesAndFails() {
    for (int sequence = 1; sequence <= 4; sequence++) {
      database.add(1, sequence, true);
    }
    database.add(1, 5, false);
    database.troubles.addAll(List.of(Trouble.NONE, Trouble.ROLLBACK));
    assertThat(sequences(store.claim(FOUR))).as("at once").containsExactly(5L);
  }

  @Test
  @DisplayName("move messages aside for 100 ms, then let go and say: poll again")
  void movesForATime() {
    database.moveTakes = Duration.ofMillis(60);
    for (int bucket = 1; bucket <= 3; bucket++) {
      for (int sequence = 1; sequence <= 50; sequence++) {
        database.add(bucket, 100 * bucket + sequence, true);
      }
    }
    Claim claim = store.claim(FOUR);
    assertThat(claim.messages()).isEmpty();
    assertThat(claim.pollAgain()).isTrue();
    assertThat(database.left()).as("moved in three turns, the last with one bucket").hasSize(134);
    assertThat(database.asked)
        .as("a lease is written where nothing else was, so that the commit waits for the disk (A1)")
        .contains("claim 1: renew");
    assertThat(database.held()).isEmpty();
    assertThat(database.closed()).containsExactly(1);

    int asked = database.asked.size();
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(database.asked).as("asked for a claim that is over").hasSize(asked);
  }
}
