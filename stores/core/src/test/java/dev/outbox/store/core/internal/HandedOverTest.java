package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static dev.outbox.store.core.internal.ClaimsTest.sequences;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.AppendReport.Candidate;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** C9, as far as memory decides it; what the append asks is the stores' own. */
@DisplayName("A message that was alone in its bucket")
class HandedOverTest extends HeldTests {
  HandedOverTest() {
    super(Duration.ofMinutes(1));
  }

  @BeforeEach
  void holdOne() {
    database.mostDeletedWithLock = 4;
    hold(1);
    assertThat(held.open()).extracting(Lease::bucket).containsExactly(1);
  }

  private void settleAll(Claim claim) {
    assertThat(settleAndClaim(claim).messages()).isEmpty();
  }

  private Claim settleAndClaim(Claim claim) {
    Settled settled = settle(claim);
    assertThat(settled.lost()).isEmpty();
    return settled.next();
  }

  private void passes(Duration time) {
    database.clock += time.toNanos();
  }

  private Candidate append() {
    return append(1, held.claimId());
  }

  /** And commits. */
  private Candidate append(long token, UUID claimId) {
    database.add(1, ++last, false);
    return new Candidate((Claimable) FakeDatabase.row(1, last, false), token, claimId);
  }

  private boolean handOver(Candidate message) {
    AppendReport report = new AppendReport(List.of(message), place(message.row().sequence()));
    return held.committed(1, report).handed() == 1;
  }

  private static Announcement place(long sequence) {
    return new Announcement(Map.of(sequence, 1));
  }

  private void isHandedOver() {
    assertThat(handOver(append())).isTrue();
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    settleAll(claim);
    assertThat(asked()).containsExactly("lockHeldAndDelete");
  }

  private void isRead(Candidate message) {
    boolean ignored = handOver(message);
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    settleAll(claim);
    assertThat(asked()).contains("look");
  }

  @Test
  @DisplayName("is claimed without a question")
  void withoutReading() {
    isHandedOver();
    isHandedOver();
    assertThat(database.left()).isEmpty();
  }

  @Test
  @DisplayName("is there for the next claim when one fails on the way to it")
  void failed() {
    assertThat(handOver(append())).isTrue();
    Claim.Request tooLong = new Claim.Request("worker", 4, 1_000, Duration.ofDays(365_000));
    assertThatThrownBy(() -> claims.claim(tooLong)).isInstanceOf(ArithmeticException.class);
    assertThat(sequences(claim())).containsExactly(last);
  }

  @Test
  @DisplayName("is read when it was of another lease, or of others' one")
  void anotherLease() {
    isRead(append(2, held.claimId()));
    isRead(append(1, UUID.randomUUID()));
    isHandedOver();
  }

  @Test
  @DisplayName("waits for the lease that a worker has, and is claimed when that comes back")
  void inHand() {
    database.add(1, ++last, false);
    Claim before = claim();
    assertThat(held.open()).as("its lease may be asked for").hasSize(1);
    Candidate message = append();
    assertThat(handOver(message)).isTrue();
    assertThat(claim().messages()).isEmpty();
    Claim claim = settleAndClaim(before);
    assertThat(sequences(claim)).containsExactly(last);
    database.asked.clear();
    settleAll(claim);
    assertThat(asked()).containsExactly("lockHeldAndDelete");
  }

  @Test
  @DisplayName("finds no room beside another one, while a worker has the lease")
  void noRoom() {
    database.add(1, ++last, false);
    Claim before = claim();
    assertThat(handOver(append())).isTrue();
    assertThat(handOver(append())).isFalse();
    Claim first = settleAndClaim(before);
    assertThat(sequences(first)).containsExactly(last - 1);
    assertThat(sequences(settleAndClaim(first))).containsExactly(last);
  }

  @Test
  @DisplayName("is one of as many as a claim may have (C2)")
  void limits() {
    for (int bucket = 2; bucket <= 7; bucket++) {
      held.took(database.clock, List.of(database.take(bucket, held.claimId())));
      OutboxMessage content =
          OutboxMessage.builder().aggregate("a", "b").eventType("c").payload("123").build();
      StoredMessage stored = StoredMessage.of(++last, 0, Instant.EPOCH, content);
      Claimable row =
          new Claimable(
              bucket, last, stored.key(), Status.PENDING, content.id(), stored, Instant.EPOCH);
      Candidate message = new Candidate(row, 1, held.claimId());
      AppendReport report =
          new AppendReport(List.of(message), new Announcement(Map.of(last, bucket)));
      assertThat(held.committed(1, report).handed()).isEqualTo(1);
    }
    assertThat(claims.claim(new Claim.Request("worker", 9, 5, FOUR.lease())).messages()).hasSize(1);
    assertThat(claim().messages()).hasSize(4);
  }

  @Test
  @DisplayName("is read when the session was lost while a worker had the lease: it may be gone")
  void sessionLostWhileInHand() {
    database.add(1, ++last, false);
    Claim before = claim();
    assertThat(handOver(append())).isTrue();
    held.shown(false);
    held.shown(true);
    assertThat(claim().messages()).as("another worker has nothing to claim").isEmpty();
    database.empty(1); // a failover has lost it
    assertThat(settleAndClaim(before).messages()).isEmpty();
  }

  @Test
  @DisplayName("is claimed at once by a claim that had the lease and found nothing")
  void duringALook() {
    duringTheLook(() -> assertThat(handOver(append())).isTrue());
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last);
    settleAll(claim);
    assertThat(asked()).containsExactly("look", "lockHeldAndDelete");
  }

  @Test
  @DisplayName("is for another worker, where the claim that had the lease found something else")
  void duringALookThatFindsOthers() {
    held.took(database.clock, List.of(database.take(2, held.claimId())));
    database.add(2, ++last, false);
    duringTheLook(() -> assertThat(handOver(append())).isTrue());
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last - 1);
    assertThat(claim.pollAgain()).isTrue();
    Claim another = claim();
    assertThat(sequences(another)).containsExactly(last);
    assertThat(another.pollAgain()).isFalse();
    assertThat(asked()).containsExactly("look");
  }

  private void duringTheLook(Runnable what) {
    database.afterLook =
        leases -> {
          database.afterLook = none -> {};
          what.run();
        };
  }

  @Test
  @DisplayName("makes the next claim look when another lease comes back than that of its append")
  void anotherLeaseComesBack() {
    database.add(1, ++last, false);
    Claim before = claim();
    assertThat(handOver(append(2, held.claimId()))).isTrue();
    assertThat(sequences(settleAndClaim(before))).containsExactly(last);
  }

  @Test
  @DisplayName("is none where messages are handed out singly (S6)")
  void single() {
    assertThat(besideALease(false)).hasSize(1);
    assertThat(besideALease(true)).isEmpty();
  }

  private List<Claimable> besideALease(boolean single) {
    Lease lease = Lease.begins(1, 7, Lease.STATELESS, false, false, single, FOUR.lease());
    return HeldBucket.until(0, lease, 0).and(List.of(append(7, held.claimId())), 0).handed();
  }

  @Test
  @DisplayName("is not claimed again when the worker that has the lease has read it")
  void readMeanwhile() {
    Candidate message = append();
    Claim read = claim();
    assertThat(sequences(read)).containsExactly(last);
    assertThat(handOver(message)).as("it waits for the lease").isTrue();
    settleAll(read);
    assertThat(claim().messages()).isEmpty();
    assertThat(handOver(message)).isFalse();
    assertThat(claim().messages()).isEmpty();
  }

  @Test
  @DisplayName("is read when a higher sequence was read before it was committed")
  void overtaken() {
    long slow = ++last;
    database.add(1, ++last, false);
    Claim other = claim();
    assertThat(sequences(other)).containsExactly(last);
    database.add(1, slow, false);
    assertThat(
            handOver(
                new Candidate((Claimable) FakeDatabase.row(1, slow, false), 1, held.claimId())))
        .as("it waits for the lease")
        .isTrue();
    assertThat(sequences(settleAndClaim(other))).containsExactly(slow);
  }

  @Test
  @DisplayName(
      "makes the next claim look where it is not the only one, and is not asked for before")
  void missed() {
    Candidate first = append();
    database.add(1, last + 1, false);
    AppendReport report = new AppendReport(List.of(first), Announcement.ANYTHING);
    assertThat(held.committed(2, report).count()).isEqualTo(1);
    assertThat(held.open()).isEmpty();
    Claim claim = claim();
    assertThat(sequences(claim)).containsExactly(last, last + 1);
    last++;
    settleAll(claim);
    assertThat(held.open()).isNotEmpty();
    database.asked.clear();
    isHandedOver();
  }

  @Test
  @DisplayName("does not keep claims from looking for those of other processes")
  void looks() {
    isHandedOver();
    passes(Duration.ofMillis(49));
    isHandedOver();
    passes(Duration.ofMillis(1));
    isRead(append());
    isHandedOver();
  }

  @Test
  @DisplayName("is read while others cannot see that the relay lives")
  void notShown() {
    Candidate message = append();
    assertThat(handOver(message)).isTrue();
    held.shown(false);
    assertThat(held.open()).isEmpty();
    assertThat(held.haveNews()).as("it is to be looked for").isTrue();
    assertThat(handOver(message)).as("what was asked for before").isFalse();
    isRead(message);
  }
}
