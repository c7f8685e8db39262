package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.delivered;
import static dev.outbox.store.core.internal.ClaimsTest.sequences;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.FakeDatabase.Trouble;
import dev.outbox.store.core.internal.Holding.SeenBucket;
import dev.outbox.store.core.internal.HoldingRules.Load;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A bucket that is held")
class HeldClaimsTest extends HeldTests {
  private static final Duration UNCLAIMED = Duration.ofSeconds(1);

  HeldClaimsTest() {
    super(UNCLAIMED);
  }

  @BeforeEach
  void holdOne() {
    hold(1);
  }

  @Override
  Claim claim() {
    assertThat(held.claims(FOUR)).isTrue();
    return super.claim();
  }

  /** A message of the bucket comes, and is delivered by the next claim. */
  private void serve(int bucket) {
    long sequence = add(bucket);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(sequence);
    Settled settled = settle(claim);
    assertThat(settled.lost()).isEmpty();
    assertThat(settled.next().messages()).isEmpty();
    assertThat(settled.next().pollAgain()).isFalse();
  }

  @Test
  @DisplayName("is looked at, and costs three statements a message")
  void cheap() {
    serve(1);
    assertThat(asked()).containsExactly("look", "lockHeld", "delete");
    assertThat(database.held()).containsExactly(1);
  }

  @Test
  @DisplayName("costs two statements a message where one settles a few messages")
  void cheaper() {
    database.mostDeletedWithLock = 2;
    serve(1);
    assertThat(asked()).containsExactly("look", "lockHeldAndDelete");
    assertThat(database.left()).isEmpty();
    database.add(1, last + 1, last + 3);
    last += 3;
    assertThat(settle(claim()).lost()).isEmpty();
    assertThat(asked()).as("of many").containsExactly("look", "lockHeld", "delete");
    add(1);
    Claim claim = claim();
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(asked()).as("of one without a decision").containsExactly("look", "lockHeld");
    assertThat(sequences(claim())).as("at once").containsExactly(last);
    assertThat(database.held()).containsExactly(1);
  }

  @Test
  @DisplayName("is shared by its workers, where there is more than a batch of each")
  void shared() {
    hold(2, 3, 4);
    for (int bucket = 1; bucket <= 4; bucket++) {
      database.add(bucket, last + 1, last + 20);
      last += 20;
    }
    Claim.Request other = new Claim.Request("another", 4, 1_000, FOUR.lease());
    assertThat(held.claims(other)).isTrue();
    assertThat(settle(claim()).next().messages()).as("of two of them").isNotEmpty();
    assertThat(claims.claim(other).messages()).as("of the other two").isNotEmpty();
  }

  private static final Claim.Request OTHER = new Claim.Request("another", 4, 1_000, FOUR.lease());

  private void backlog(int... buckets) {
    for (int bucket : buckets) {
      database.add(bucket, last + 1, last + 100);
      last += 100;
    }
  }

  private static List<Integer> buckets(Claim claim) {
    return ((LeasedBatch) claim).batch.leases().stream().map(Lease::bucket).toList();
  }

  @Test
  @DisplayName("that nobody tells of is looked at behind a backlog, and leaves that to others (C6)")
  void behindABacklog() {
    hold(2, 3);
    assertThat(held.claims(OTHER)).isTrue();
    backlog(1, 2);
    Claim claim = claim();
    assertThat(buckets(claim)).as("nothing is known of it").containsExactly(1, 2);
    long silent = add(3);
    for (int i = 0; i < 4; i++) {
      claim = settle(claim).next();
      assertThat(buckets(claim)).as("a share of two").hasSize(1);
    }
    claim = settle(claim).next();
    assertThat(sequences(claim)).contains(silent);
    assertThat(buckets(claim)).as("with a share of two").hasSize(2);
  }

  @Test
  @DisplayName("with a backlog is claimed while another worker has what there was news of")
  void backlogBesideNews() {
    hold(2);
    backlog(1);
    Claim claim = claim();
    for (int i = 0; i < 4; i++) {
      claim = settle(claim).next();
    }
    held.heard(new Announcement(Map.of(add(2), 2)));
    claim = settle(claim).next();
    assertThat(buckets(claim)).as("it is the turn of the news").containsExactly(2);
    for (int i = 0; i < 5; i++) {
      Claim another = claims.claim(OTHER);
      assertThat(buckets(another)).containsExactly(1);
      assertThat(another.settle(delivered(another))).isEmpty();
    }
  }

  @Test
  @DisplayName("is one of sixteen at most that a claim has, where more have a backlog")
  void sixteen() {
    int[] many = IntStream.range(2, 40).toArray();
    hold(many);
    backlog(many);
    Claim.Request large = new Claim.Request("worker", 160, 100_000, FOUR.lease());
    assertThat(held.claims(large)).isTrue();
    Claim claim = claims.claim(large);
    Claim next = claims.settleAndClaim(claim, delivered(claim), large).orElseThrow().next();
    assertThat(buckets(next)).hasSize(16);
  }

  @Test
  @DisplayName("of another relay is none of its business")
  void standsBy() {
    database.lose(1);
    add(1);
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).as("it is lost").containsExactly("look", "lockHeld");
    add(2);
    Claim claim = claim();
    assertThat(claim.messages()).isEmpty();
    assertThat(claim.pollAgain()).isFalse();
    assertThat(claim.settle(Map.of())).isEmpty();
    assertThat(asked()).isEmpty();
  }

  @Test
  @DisplayName("is settled by one statement only as far as it is still held")
  void lostBeforeTheSettle() {
    hold(2);
    database.mostDeletedWithLock = 2;
    long lost = add(1);
    add(2);
    Claim claim = claim();
    database.lose(1);
    assertThat(settle(claim).lost()).containsExactly(lost);
    assertThat(database.left()).containsExactly(lost);
    assertThat(claim().messages()).isEmpty();
  }

  @Test
  @DisplayName("is settled again when it is not known whether one statement did it")
  void lostReplyOfOneStatement() {
    database.mostDeletedWithLock = 2;
    add(1);
    Claim claim = claim();
    database.troubles.add(Trouble.LOST_REPLY);
    assertThatThrownBy(() -> settle(claim)).isInstanceOf(TransientOutboxException.class);
    assertThat(claim.settle(delivered(claim))).isEmpty();
    serve(1);
  }

  @Test
  @DisplayName("is settled with no decision that is none of the claim's, also when that is empty")
  void unknownSequence() {
    Claim empty = claim();
    assertThat(empty.messages()).isEmpty();
    assertThatThrownBy(() -> claims.settleAndClaim(empty, Map.of(9L, Decision.delivered()), FOUR))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  @DisplayName("is settled once: after that another worker may have it")
  void twice() {
    long sequence = add(1);
    Claim claim = claim();
    assertThat(claim.settle(delivered(claim))).isEmpty();
    assertThat(claim.settle(delivered(claim))).containsExactly(sequence);
    assertThat(asked()).containsExactly("look", "lockHeld", "delete");
  }

  @Test
  @DisplayName("is locked before it is read when a look cannot be sure")
  void unsure() {
    database.looksAreSure = false;
    long sequence = add(1);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(sequence);
    assertThat(asked()).containsExactly("look", "lockHeld", "readPending", "makeDurable");
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(database.held()).containsExactly(1);
  }

  @Test
  @DisplayName("is read again when all that it had was moved aside")
  void moves() {
    database.add(1, ++last, true);
    long behind = add(1);
    assertThat(sequences(claim())).containsExactly(behind);
    assertThat(asked()).contains("move");
  }

  @Test
  @DisplayName("says to poll again when moving takes too long, and is held on")
  void movesForLong() {
    database.moveTakes = Duration.ofSeconds(1);
    for (int i = 0; i < 9; i++) {
      database.add(1, ++last, true);
    }
    Claim claim = claim();
    assertThat(claim.messages()).isEmpty();
    assertThat(claim.pollAgain()).isTrue();
    assertThat(database.left()).hasSize(5);
    serve(2, 1);
  }

  private void serve(int bucket, int other) {
    hold(bucket);
    database.empty(other);
    serve(bucket);
  }

  @Test
  @DisplayName("is written to after a look that brought what may not be durable")
  void notDurable() {
    database.looksAreDurable = false;
    serve(1);
    assertThat(asked()).containsExactly("look", "look", "makeDurable", "lockHeld", "delete");
    serve(1);
    assertThat(asked())
        .as("in one transaction")
        .containsExactly("look", "makeDurable", "lockHeld", "delete");
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).as("nothing was brought").containsExactly("look");
  }

  @Test
  @DisplayName("is lost when another took it over after the look, before it was written to")
  void lostAfterTheLook() {
    database.looksAreDurable = false;
    serve(1);
    asked();
    database.afterLook = leases -> leases.forEach(lease -> database.lose(lease.bucket()));
    add(1);
    assertThat(claim().messages()).isEmpty();
    assertThat(asked()).containsExactly("look", "makeDurable", "lockHeld");
  }

  @Test
  @DisplayName("that was taken anew while a worker looked at it is not forgotten for what it was")
  void takenAnew() {
    database.afterLook = leases -> holdOnce();
    assertThat(claim().messages()).isEmpty();
    serve(1);
  }

  @Test
  @DisplayName("that was taken anew, and that another worker has, is left to that one")
  void takenAnewByAnother() {
    database.looksAreDurable = false;
    serve(1);
    add(1);
    List<Claim> others = new ArrayList<>();
    database.afterLook =
        leases -> {
          holdOnce();
          others.add(claim());
        };
    assertThat(claim().messages()).isEmpty();
    assertThat(others).singleElement().satisfies(c -> assertThat(settle(c).lost()).isEmpty());
    serve(1);
  }

  @Test
  @DisplayName("that was lost while a worker read it has more for nobody here")
  void lostWhileItIsRead() {
    hold(2);
    database.add(1, 1, 9);
    database.afterLook =
        leases -> {
          database.lose(1);
          held.forgetLost(List.of(new SeenBucket(1, 99, 5)));
        };
    Claim claim = claim();
    assertThat(settle(claim).lost()).containsExactlyInAnyOrder(1L, 2L);
    assertThat(held.haveMore()).isFalse();
  }

  private void holdOnce() {
    database.afterLook = leases -> {};
    hold(1);
  }

  @Test
  @DisplayName("waits for the next claim when it cannot be prolonged, or a look fails")
  void failed() {
    long sequence = add(1);
    database.troubles.add(Trouble.ROLLBACK);
    assertThatThrownBy(this::claim).isInstanceOf(TransientOutboxException.class);
    database.looksAreDurable = false;
    database.troubles.add(Trouble.NONE);
    database.troubles.add(Trouble.ROLLBACK);
    assertThatThrownBy(this::claim).isInstanceOf(TransientOutboxException.class);
    assertThat(sequences(claim())).containsExactly(sequence);
  }

  @Test
  @DisplayName("is locked and prolonged before a claim would be shorter than it was asked for")
  void prolonged() {
    database.left = FOUR.lease().minusMillis(1);
    hold(1);
    long sequence = add(1);
    assertThat(sequences(claim())).containsExactly(sequence);
    assertThat(asked()).containsExactly("lockHeld", "renew", "readPending");
  }

  @Test
  @DisplayName("is given back when no worker has claimed for so long")
  void unclaimed() {
    serve(1);
    database.clock += UNCLAIMED.toNanos() - 1;
    claims.giveBackUnclaimed();
    assertThat(database.held()).containsExactly(1);
    assertThat(held.request()).isEqualTo(FOUR);
    database.clock++;
    claims.giveBackUnclaimed();
    assertThat(database.held()).isEmpty();
    assertThat(held.request()).as("nothing is to be taken").isNull();
    assertThat(claim().messages()).isEmpty();
    assertThat(held.request()).isEqualTo(FOUR);
  }

  @Test
  @DisplayName("is in the hands of one worker, or of none")
  void oneWorker() {
    add(1);
    Claim claim = claim();
    add(1);
    asked();
    assertThat(claim().messages()).as("another worker's claim").isEmpty();
    assertThat(asked()).isEmpty();
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(sequences(claim())).containsExactly(last);
  }

  @Test
  @DisplayName("waits for nobody while it is not known whether its settle was carried out")
  void lostReply() {
    add(1);
    Claim claim = claim();
    database.troubles.add(Trouble.LOST_REPLY);
    assertThatThrownBy(() -> settle(claim)).isInstanceOf(TransientOutboxException.class);
    asked();
    assertThat(claim().messages()).as("another worker's claim").isEmpty();
    assertThat(asked()).isEmpty();
    assertThat(settle(claim).lost()).isEmpty();
    serve(1);
  }

  @Test
  @DisplayName("that is given away goes at once, or when its worker has settled")
  void givenAway() {
    hold(2);
    add(1);
    Claim claim = claim();
    claims.giveBack(database.transactions, held.give(Set.of(1, 2)));
    assertThat(database.held()).containsExactly(1);
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(database.held()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = Trouble.class,
      names = {"ROLLBACK", "LOST_REPLY"})
  @DisplayName("that could not be given away is held on, as far as it is still there")
  void notGivenAway(Trouble trouble) {
    hold(2);
    database.troubles.add(trouble);
    List<Lease> given = held.give(Set.of(1, 2));
    assertThatThrownBy(() -> claims.giveBack(database.transactions, given))
        .isInstanceOf(TransientOutboxException.class);
    add(2);
    int left = trouble == Trouble.ROLLBACK ? 1 : 0;
    Claim claim = claim();
    assertThat(claim.messages()).hasSize(left);
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(held.give(Set.of(1, 2))).hasSize(2 * left);
  }

  @Test
  @DisplayName("that was taken anew, while it was uncertain that it was given away, is held once")
  void takenAnewWhileUncertain() {
    List<Lease> uncertain = held.give(Set.of(1));
    hold(1);
    add(1);
    Claim claim = claim();
    held.keep(uncertain);
    assertThat(claim().messages()).isEmpty();
    assertThat(settle(claim).lost()).isEmpty();
    serve(1);
  }

  @Test
  @DisplayName("is given back by a relay that ends, and by its workers when they settle after that")
  void close() {
    hold(2);
    add(1);
    Claim claim = claim();
    claims.close();
    assertThat(database.held()).containsExactly(1);
    assertThat(held.claims(FOUR)).as("claims are of what is held").isFalse();
    settle(claim);
    assertThat(database.held()).isEmpty();
    claims.close();
  }

  @Test
  @DisplayName(
      "is given back where the database cannot be looked at, and none is held from then on")
  void cannotLook() {
    hold(2);
    database.cannotLook = true;
    add(1);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    settle(claim);
    assertThat(database.held()).isEmpty();
    assertThat(held.claims(FOUR)).isFalse();
  }

  @Test
  @DisplayName("and hands out its messages singly is given back by each settle (S6)")
  void singly() {
    database.singly = true;
    hold(1);
    long first = add(1);
    long second = add(1);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(first);
    assertThat(asked()).doesNotContain("look").contains("count");
    assertThat(settle(claim).lost()).isEmpty();
    assertThat(database.released)
        .singleElement()
        .satisfies(
            release -> {
              assertThat(release.settled()).isTrue();
              assertThat(release.decided()).isEqualTo(1);
            });
    assertThat(claims.hasLetGo()).as("the holder is to take it again at once").isTrue();
    assertThat(claims.hasLetGo()).isFalse();
    hold(1);
    assertThat(sequences(claim())).containsExactly(second);
  }

  @Test
  @DisplayName("is looked at together with all others that wait, in one statement")
  void many() {
    hold(2, 3);
    List<Long> added = List.of(add(1), add(2), add(3));
    Claim claim = claim();
    assertThat(sequences(claim)).isEqualTo(added);
    assertThat(asked()).containsExactly("look");
    assertThat(settle(claim).lost()).isEmpty();
  }

  @Test
  @DisplayName("and has more is read alone, without those that have none")
  void backlog() {
    hold(2, 3, 4);
    database.add(1, 1, 9);
    last = 9;
    Claim claim = claim();
    assertThat(sequences(claim)).as("a share of four buckets").containsExactly(1L);
    claim = settle(claim).next();
    assertThat(sequences(claim)).as("all of one").containsExactly(2L, 3L, 4L, 5L);
    long other = add(2);
    Claim others = claim();
    assertThat(sequences(others)).as("of another worker").containsExactly(other);
    settle(others);
    settle(claim);
  }

  @Test
  @DisplayName("and always has more keeps no other waiting (C6)")
  void busy() {
    hold(2);
    database.add(1, 1, 1_000);
    database.add(2, 2_000, false);
    Set<Long> came = new HashSet<>();
    Claim claim = claim();
    for (int i = 0; i < 9; i++) {
      came.addAll(sequences(claim));
      claim = settle(claim).next();
    }
    assertThat(came).contains(2_000L);
    for (int i = 0; i < 400 && !claim.messages().isEmpty(); i++) {
      claim = settle(claim).next();
    }
    assertThat(database.left()).isEmpty();
  }

  @Test
  @DisplayName("is busy while claims come back full, and no more when there is nothing to claim")
  void load() {
    hold(1);
    database.add(1, 1, 12);
    Claim claim = settle(claim()).next();
    database.clock += Duration.ofMillis(100).toNanos();
    assertThat(held.load()).isEqualTo(Load.BUSY);
    claim = settle(claim).next();
    held.give(Set.of(1));
    settle(claim);
    assertThat(held.load()).isEqualTo(Load.WORKING);
    database.clock += Duration.ofSeconds(10).toNanos();
    assertThat(held.load()).isEqualTo(Load.CALM);
  }

  @Test
  @DisplayName("is forgotten when it was given away and another has it, though its worker hangs")
  void givenAwayAndAbandoned() {
    database.add(1, 1, 12);
    Claim ignored = settle(claim()).next();
    database.clock += Duration.ofMillis(100).toNanos();
    assertThat(held.give(Set.of(1))).as("at once").isEmpty();
    assertThat(held.load()).as("while its worker has it").isEqualTo(Load.BUSY);
    held.forgetLost(List.of(new SeenBucket(1, 99, 5)));
    assertThat(held.load()).isEqualTo(Load.WORKING);
  }
}
