package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.postgres.CertifiedSequences.Beside;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.CertifiedSequences.Snapshot;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A sample of the sequence")
class CertifiedSequencesTest {
  private static final Duration PATIENCE = Duration.ofMillis(100);

  private long nanos;
  private final CertifiedSequences certified = new CertifiedSequences(() -> nanos, PATIENCE);

  private Sample begin(long next, long transaction) {
    return certified.begin("primary", next, transaction);
  }

  @Test
  @DisplayName("is certified by a read whose horizon is beyond its transaction")
  void certified() {
    Sample sample = begin(10, 101);
    assertThat(certified.afterRead(sample, 101)).as("101 may still be open").isZero();
    assertThat(certified.afterRead(sample, 102)).isEqualTo(10);
    assertThat(begin(12, 105).below()).as("known from now on").isEqualTo(10);
  }

  @Test
  @DisplayName("is certified by another transaction's read too, the highest of all that are over")
  void byAnother() {
    begin(10, 101);
    begin(30, 103);
    begin(20, 102);
    Sample reader = begin(40, 104);
    assertThat(certified.afterRead(reader, 104)).isEqualTo(30);
    assertThat(certified.afterRead(reader, 105)).isEqualTo(40);
  }

  @Test
  @DisplayName("that another read certified meanwhile says nothing of a read that was on its way")
  void meanwhile() {
    Sample onItsWay = begin(10, 101);
    Sample other = begin(20, 102);
    assertThat(certified.afterRead(other, 103)).isEqualTo(20);
    assertThat(certified.afterRead(onItsWay, 101)).isZero();
  }

  @Test
  @DisplayName("taken when the transaction had its id already is never certified")
  void idDrawnBefore() {
    Sample sample = begin(10, 0);
    assertThat(certified.afterRead(sample, 1_000)).isZero();
  }

  @Test
  @DisplayName("counts in its own history only")
  void otherHistory() {
    Sample old = begin(10, 101);
    assertThat(certified.afterRead(old, 102)).isEqualTo(10);
    Sample before = begin(15, 103);
    Sample fresh = certified.begin("new primary", 7, 3);
    assertThat(fresh.below()).isZero();
    assertThat(certified.afterRead(before, 1_000)).as("what it knew itself").isEqualTo(10);
    assertThat(certified.afterRead(fresh, 3)).as("nothing of the old ones waits").isZero();
    assertThat(certified.afterRead(fresh, 4)).isEqualTo(7);
  }

  @Test
  @DisplayName("below what is certified says that the sequence was set back")
  void setBack() {
    assertThat(certified.afterRead(begin(10, 101), 102)).isEqualTo(10);
    begin(12, 103);
    assertThat(begin(9, 104).below()).isZero();
    assertThat(certified.afterRead(begin(9, 0), 104)).as("12 is forgotten").isZero();
  }

  @Test
  @DisplayName("waits behind a writer that stays open, with no more than some others")
  void bounded() {
    Sample last = begin(10, 101);
    for (int i = 1; i < 1_000; i++) {
      last = begin(10 + i, 101 + i);
    }
    assertThat(certified.afterRead(last, 1_000)).as("the oldest").isEqualTo(10 + 63);
    assertThat(certified.afterRead(last, 2_000)).as("that of the reader").isEqualTo(10 + 999);
    assertThat(certified.afterRead(begin(5_000, 3_000), 3_001)).isEqualTo(5_000);
  }

  // ---- beside a transaction that stays open

  /** 100 stays open, and a sample has waited so long that a snapshot is asked for. */
  private void stuck() {
    Sample sample = begin(10, 101);
    nanos += PATIENCE.toNanos();
    assertThat(certified.asks(sample)).as("nothing has been read since").isFalse();
    assertThat(certified.afterRead(sample, 100)).isZero();
  }

  /** A transaction asks, and this is the answer. */
  private void snapshot(long next, long transaction, long limit, Long... open) {
    nanos += PATIENCE.toNanos();
    Sample sample = begin(next, transaction);
    assertThat(certified.asks(sample)).isTrue();
    certified.answered(sample, new Snapshot(limit, Set.of(open)));
  }

  @Test
  @DisplayName("is not certified by a snapshot while the horizon comes in time")
  void inTime() {
    Sample sample = begin(10, 101);
    nanos += PATIENCE.toNanos() - 1;
    assertThat(certified.afterRead(sample, 100)).isZero();
    assertThat(certified.asks(sample)).isFalse();
    nanos += 1;
    assertThat(certified.asks(sample)).isTrue();
    certified.answered(sample, new Snapshot(102, Set.of(100L)));
    assertThat(certified.asks(sample)).as("once in a while").isFalse();
    nanos += PATIENCE.toNanos();
    assertThat(certified.asks(sample)).isTrue();
    assertThat(certified.afterRead(sample, 102)).isEqualTo(10);
    nanos += PATIENCE.toNanos();
    assertThat(certified.asks(sample)).as("nothing waits").isFalse();
  }

  @Test
  @DisplayName("is certified but for those who were open at a later snapshot")
  void beside() {
    stuck();
    snapshot(20, 102, 110, 100L, 105L);
    assertThat(certified.known().beside()).as("nobody has waited yet").isEqualTo(Beside.NONE);
    snapshot(30, 112, 120, 100L, 105L, 115L);
    assertThat(certified.known().beside())
        .as("whoever came later draws higher sequences")
        .isEqualTo(new Beside(20, Set.of(100L)));
    snapshot(40, 122, 130, 100L, 105L, 125L);
    assertThat(certified.known().beside()).isEqualTo(new Beside(30, Set.of(100L, 105L)));
    snapshot(50, 132, 140, 105L);
    assertThat(certified.known().beside()).isEqualTo(new Beside(40, Set.of(105L)));
    assertThat(certified.known().below()).isZero();
    snapshot(60, 142, 150);
    assertThat(certified.known().below()).as("when nobody is left").isEqualTo(50);
  }

  @Test
  @DisplayName("says nothing beside others once the same is certified for all")
  void forAll() {
    stuck();
    snapshot(20, 102, 110, 100L);
    snapshot(30, 112, 120, 100L);
    Sample sample = begin(40, 122);
    assertThat(sample.beside()).isEqualTo(new Beside(20, Set.of(100L)));
    assertThat(certified.afterRead(sample, 123)).isEqualTo(40);
    assertThat(certified.known().beside()).isEqualTo(Beside.NONE);
  }

  @Test
  @DisplayName("is not certified by a snapshot that does not reach its transaction")
  void limit() {
    stuck();
    snapshot(20, 102, 110, 100L);
    snapshot(30, 112, 101, 100L);
    assertThat(certified.known().beside()).as("101 may be open").isEqualTo(Beside.NONE);
    snapshot(40, 122, 112, 100L);
    assertThat(certified.known().beside()).isEqualTo(new Beside(30, Set.of(100L)));
  }

  @Test
  @DisplayName("is not certified beside too many")
  void tooMany() {
    stuck();
    Long[] many = LongStream.rangeClosed(30, 94).boxed().toArray(Long[]::new);
    snapshot(20, 102, 110, many);
    snapshot(30, 112, 120, Arrays.copyOf(many, 64));
    assertThat(certified.known().beside().below()).isEqualTo(20);
    snapshot(40, 122, 130, many);
    assertThat(certified.known().beside()).isEqualTo(Beside.NONE);
  }

  @Test
  @DisplayName("is not certified by a snapshot of another history")
  void snapshotOfAnotherHistory() {
    stuck();
    snapshot(20, 102, 110, 100L);
    nanos += PATIENCE.toNanos();
    Sample old = begin(30, 112);
    Sample fresh = certified.begin("new primary", 7, 3);
    certified.answered(old, new Snapshot(120, Set.of(100L)));
    assertThat(certified.known().beside()).isEqualTo(Beside.NONE);
    assertThat(certified.afterRead(fresh, 2)).isZero();
    nanos += PATIENCE.toNanos();
    assertThat(certified.asks(fresh)).isTrue();
    certified.answered(fresh, new Snapshot(4, Set.of(2L)));
    assertThat(certified.known().beside()).as("the old sample is gone").isEqualTo(Beside.NONE);
  }
}
