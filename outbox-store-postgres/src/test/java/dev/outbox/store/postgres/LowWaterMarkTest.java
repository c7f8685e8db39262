package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.ToMove;
import dev.outbox.store.postgres.CertifiedSequences.Beside;
import dev.outbox.store.postgres.CertifiedSequences.Sample;
import dev.outbox.store.postgres.LowWaterMark.Ahead;
import dev.outbox.store.postgres.LowWaterMark.Read;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A mark")
class LowWaterMarkTest {
  private static final Sample SAMPLE = sample("primary", 100);

  private static Sample sample(String history, long next) {
    return new Sample(history, next, 0, 0, Beside.NONE);
  }

  private static Ahead none(long low) {
    return new Ahead(low, Set.of());
  }

  private static LowWaterMark read(long low, Sample sample, long[] found, long passed, long below) {
    return new LowWaterMark(
        low, none(low), sample, new Read(found, passed, none(passed), new Beside(below, Set.of())));
  }

  private static LowWaterMark at(long low) {
    return LowWaterMark.stored(low, SAMPLE);
  }

  private static long[] sequences(long... ascending) {
    return ascending;
  }

  private static int inFront(LowWaterMark mark, long... delivered) {
    List<Claimable> rows =
        Arrays.stream(delivered).mapToObj(s -> message(s, Status.PENDING)).toList();
    return LowWaterMark.inFront(List.of(lease(1, mark)), rows)[1];
  }

  private static Claimable message(long sequence, Status status) {
    StoredMessage message =
        StoredMessage.undecodable(sequence, "k", null, 0, Instant.EPOCH, "not read");
    return new Claimable(1, sequence, "k", status, sequence, message, null);
  }

  @Test
  @DisplayName("passes what a full read brought when that is deleted")
  void fullRead() {
    LowWaterMark read = at(3).afterRead(sequences(5, 9), 2, 50);
    assertThat(read).usingRecursiveComparison().isEqualTo(read(5, SAMPLE, sequences(5, 9), 10, 50));
    assertThat(read.afterDelete(2)).isEqualTo(at(10));
  }

  @Test
  @DisplayName("stops at the first message that is not deleted")
  void stops() {
    LowWaterMark read = at(3).afterRead(sequences(5, 7, 9), 3, 50);
    assertThat(inFront(read, 5, 9)).isEqualTo(1);
    assertThat(read.afterDelete(1)).isEqualTo(at(7));
    assertThat(inFront(read, 7, 9)).isZero();
    assertThat(read.afterDelete(0)).isEqualTo(at(5));
    assertThat(inFront(read, 5, 7, 9)).isEqualTo(3);
    assertThat(
            LowWaterMark.inFront(List.of(lease(1, read)), List.of(message(5, Status.SCHEDULED)))[1])
        .as("it was not PENDING")
        .isZero();
    assertThat(
            LowWaterMark.inFront(List.of(lease(2, read)), List.of(message(5, Status.PENDING)))[1])
        .as("of a bucket that is not held")
        .isZero();
  }

  @Test
  @DisplayName("passes all that is certified when a read brought everything")
  void wholeRead() {
    assertThat(at(3).afterRead(sequences(5, 9), 3, 50).afterDelete(2)).isEqualTo(at(50));
    assertThat(at(3).afterRead(sequences(), 3, 50).low()).as("nothing to wait for").isEqualTo(50);
  }

  @Test
  @DisplayName("never passes what is not certified")
  void notCertified() {
    LowWaterMark full = at(3).afterRead(sequences(5, 9), 2, 9);
    assertThat(full).usingRecursiveComparison().isEqualTo(read(5, SAMPLE, sequences(5, 9), 9, 9));
    assertThat(full.afterDelete(2)).isEqualTo(at(9));
    assertThat(full.certifiedUpTo(0)).as("of nothing").isEmpty();
    assertThat(full.certifiedUpTo(1)).hasValue(5);
    assertThat(full.certifiedUpTo(2)).as("9 is not certified").isEmpty();
    LowWaterMark low = at(3).afterRead(sequences(5, 9), 3, 4);
    assertThat(low).usingRecursiveComparison().isEqualTo(read(4, SAMPLE, sequences(5, 9), 4, 4));
    assertThat(low.afterDelete(1)).isEqualTo(at(4));
  }

  @Test
  @DisplayName("never goes back")
  void neverBack() {
    assertThat(at(8).afterRead(sequences(8), 1, 2).afterDelete(1).low()).isEqualTo(8);
    assertThat(at(8).afterRead(sequences(), 1, 2).low()).isEqualTo(8);
    assertThat(at(8).afterDelete(0).low()).isEqualTo(8);
  }

  @Test
  @DisplayName("stays in its history, and knows what the next transaction knows")
  void sameHistory() {
    Sample next = new Sample("primary", 8, 0, 7, Beside.NONE);
    LowWaterMark read = at(8).afterRead(sequences(8), 1, 50);
    assertThat(read.in(next)).isEqualTo(new LowWaterMark(8, read.ahead(), next, read.read()));
  }

  @Test
  @DisplayName("is forgotten in another history, and when the sequence was set back below it")
  void otherHistory() {
    Sample promoted = sample("new primary", 100);
    assertThat(at(8).in(promoted)).isEqualTo(LowWaterMark.stored(0, promoted));
    Sample setBack = sample("primary", 7);
    assertThat(at(8).in(setBack)).isEqualTo(LowWaterMark.stored(0, setBack));
  }

  @Test
  @DisplayName("of each bucket that was read moves by what was found there, in any order")
  void ofEachBucket() {
    CertifiedSequences certified = new CertifiedSequences(() -> 0, CertifiedSequences.PATIENCE);
    Sample sample = certified.begin("primary", 20, 101);
    LowWaterMark mark = LowWaterMark.stored(0, sample);
    List<Row> rows = List.of(row(1, 9), row(1, 7), row(2, 30), row(1, 8));
    assertThat(
            LowWaterMark.afterRead(
                List.of(lease(1, mark), lease(2, mark), lease(3, mark)),
                rows,
                lease -> lease.bucket() == 1 ? 3 : 5,
                certified,
                102))
        .extracting(LowWaterMark::of)
        .usingRecursiveFieldByFieldElementComparator()
        .containsExactly(
            read(7, sample, sequences(7, 8, 9), 10, 20),
            read(20, sample, sequences(30), 20, 20),
            read(20, sample, sequences(), 20, 20));
  }

  // ---- beside transactions that stay open

  private static final Set<Long> OPEN = Set.of(77L);

  private static final Sample BESIDE = new Sample("primary", 100, 0, 4, new Beside(50, OPEN));

  @Test
  @DisplayName("has another one ahead that passes what is certified but for some")
  void ahead() {
    LowWaterMark read = LowWaterMark.stored(3, BESIDE).afterRead(sequences(5, 9), 3, 4);
    assertThat(read.low()).isEqualTo(4);
    assertThat(read.ahead()).as("9 and 5 are there still").isEqualTo(new Ahead(5, OPEN));
    assertThat(read.certifiedUpTo(2)).hasValue(9);
    assertThat(read.read().below()).as("for ranges").isEqualTo(new Beside(50, OPEN));
    assertThat(read.afterDelete(1)).isEqualTo(LowWaterMark.stored(4, new Ahead(9, OPEN), BESIDE));
    LowWaterMark after = read.afterDelete(2);
    assertThat(after).isEqualTo(LowWaterMark.stored(4, new Ahead(50, OPEN), BESIDE));
    LowWaterMark full = after.afterRead(sequences(60), 1, 4);
    assertThat(full.afterDelete(1).ahead()).as("not certified").isEqualTo(new Ahead(50, OPEN));
    assertThat(full.certifiedUpTo(1)).isEmpty();
  }

  @Test
  @DisplayName("has another one beside all who stood beside it, and none that it has passed itself")
  void besideAll() {
    Set<Long> more = Set.of(78L);
    LowWaterMark mark = LowWaterMark.stored(3, new Ahead(20, more), BESIDE);
    assertThat(mark.afterRead(sequences(), 3, 4).ahead())
        .isEqualTo(new Ahead(50, Set.of(77L, 78L)));
    assertThat(mark.afterRead(sequences(), 3, 60))
        .usingRecursiveComparison()
        .isEqualTo(
            new LowWaterMark(
                60,
                none(60),
                BESIDE,
                new Read(sequences(), 60, new Ahead(60, Set.of(78L)), new Beside(60, Set.of()))));
  }

  @Test
  @DisplayName("has none ahead after a read that began at the mark because somebody is over")
  void over() {
    LowWaterMark mark = LowWaterMark.stored(3, new Ahead(20, OPEN), BESIDE);
    CertifiedSequences certified = new CertifiedSequences(() -> 0, CertifiedSequences.PATIENCE);
    List<Lease> leases = List.of(lease(1, mark));
    List<Row> rows = List.of(row(1, 9));
    assertThat(LowWaterMark.afterRead(leases, rows, lease -> 5, certified, 1))
        .extracting(lease -> LowWaterMark.of(lease).ahead())
        .containsExactly(new Ahead(20, OPEN));
    assertThat(LowWaterMark.afterRead(leases, rows, lease -> 5, certified, 0))
        .extracting(lease -> LowWaterMark.of(lease).ahead())
        .containsExactly(none(4));
  }

  @Test
  @DisplayName("is where an append asks from, if not too much is delivered behind it")
  void asked() {
    LowWaterMark near = LowWaterMark.stored(40, new Ahead(1_040, Set.of(7L)), SAMPLE);
    LowWaterMark far = LowWaterMark.stored(3, new Ahead(1_004, Set.of(7L)), SAMPLE);
    LowWaterMark other = LowWaterMark.stored(1, sample("another", 100));
    assertThat(
            LowWaterMark.Asked.of(
                List.of(lease(1, at(50)), lease(2, near), lease(3, far), lease(4, other))))
        .isEqualTo(new LowWaterMark.Asked(0b110, 40, "primary"));
    assertThat(LowWaterMark.Asked.of(List.of()).buckets()).isZero();
  }

  private static Lease lease(int bucket, LowWaterMark mark) {
    return Lease.begins(bucket, 1, mark, false, false, false, Duration.ofSeconds(1));
  }

  private static Row row(int bucket, long sequence) {
    return new ToMove(bucket, sequence, "k", Status.PENDING, sequence, Status.SCHEDULED);
  }
}
