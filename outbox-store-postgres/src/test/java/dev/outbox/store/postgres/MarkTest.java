package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.ToMove;
import dev.outbox.store.core.internal.Status;
import dev.outbox.store.postgres.Certified.Sample;
import dev.outbox.store.postgres.Mark.Read;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A mark")
class MarkTest {
  private static final Sample SAMPLE = new Sample("primary", 100, 0);

  private static Mark at(long low) {
    return Mark.stored(low, SAMPLE);
  }

  @Test
  @DisplayName("passes what a full read brought when that is deleted")
  void fullRead() {
    Mark read = at(3).afterRead(List.of(9L, 5L), 2, 50);
    assertThat(read).isEqualTo(new Mark(5, SAMPLE, new Read(List.of(5L, 9L), 10, 50)));
    assertThat(read.afterDelete(2)).isEqualTo(at(10));
  }

  @Test
  @DisplayName("stops at the first message that is not deleted")
  void stops() {
    Mark read = at(3).afterRead(List.of(5L, 7L, 9L), 3, 50);
    assertThat(read.inFront(Set.of(5L, 9L))).isEqualTo(1);
    assertThat(read.afterDelete(1)).isEqualTo(at(7));
    assertThat(read.inFront(Set.of(7L, 9L))).isZero();
    assertThat(read.afterDelete(0)).isEqualTo(at(5));
    assertThat(read.inFront(Set.of(5L, 7L, 9L))).isEqualTo(3);
  }

  @Test
  @DisplayName("passes all that is certified when a read brought everything")
  void wholeRead() {
    assertThat(at(3).afterRead(List.of(5L, 9L), 3, 50).afterDelete(2)).isEqualTo(at(50));
    assertThat(at(3).afterRead(List.of(), 3, 50).low()).as("nothing to wait for").isEqualTo(50);
  }

  @Test
  @DisplayName("never passes what is not certified")
  void notCertified() {
    Mark full = at(3).afterRead(List.of(5L, 9L), 2, 9);
    assertThat(full).isEqualTo(new Mark(5, SAMPLE, new Read(List.of(5L, 9L), 9, 9)));
    assertThat(full.afterDelete(2)).isEqualTo(at(9));
    assertThat(full.certifiedUpTo(0)).as("of nothing").isEmpty();
    assertThat(full.certifiedUpTo(1)).hasValue(5);
    assertThat(full.certifiedUpTo(2)).as("9 is not certified").isEmpty();
    Mark low = at(3).afterRead(List.of(5L, 9L), 3, 4);
    assertThat(low).isEqualTo(new Mark(4, SAMPLE, new Read(List.of(5L, 9L), 4, 4)));
    assertThat(low.afterDelete(1)).isEqualTo(at(4));
  }

  @Test
  @DisplayName("never goes back")
  void neverBack() {
    assertThat(at(8).afterRead(List.of(8L), 1, 2).afterDelete(1).low()).isEqualTo(8);
    assertThat(at(8).afterRead(List.of(), 1, 2).low()).isEqualTo(8);
    assertThat(at(8).afterDelete(0).low()).isEqualTo(8);
  }

  @Test
  @DisplayName("stays in its history, and knows what the next transaction knows")
  void sameHistory() {
    Sample next = new Sample("primary", 8, 7);
    Mark read = at(8).afterRead(List.of(8L), 1, 50);
    assertThat(read.in(next)).isEqualTo(new Mark(8, next, read.read()));
  }

  @Test
  @DisplayName("is forgotten in another history, and when the sequence was set back below it")
  void otherHistory() {
    Sample promoted = new Sample("new primary", 100, 0);
    assertThat(at(8).in(promoted)).isEqualTo(Mark.stored(0, promoted));
    Sample setBack = new Sample("primary", 7, 0);
    assertThat(at(8).in(setBack)).isEqualTo(Mark.stored(0, setBack));
  }

  @Test
  @DisplayName("of each bucket that was read moves by what was found there, in any order")
  void ofEachBucket() {
    Certified certified = new Certified(() -> 0, Certified.PATIENCE);
    Sample sample = certified.begin("primary", 20, 101);
    Mark mark = Mark.stored(0, sample);
    List<Row> rows = List.of(row(1, 9), row(1, 7), row(2, 30), row(1, 8));
    assertThat(
            Mark.afterRead(
                List.of(lease(1, mark), lease(2, mark), lease(3, mark)),
                rows,
                lease -> lease.bucket() == 1 ? 3 : 5,
                certified,
                102))
        .extracting(Mark::of)
        .containsExactly(
            new Mark(7, sample, new Read(List.of(7L, 8L, 9L), 10, 20)),
            new Mark(20, sample, new Read(List.of(30L), 20, 20)),
            new Mark(20, sample, new Read(List.of(), 20, 20)));
  }

  private static Lease lease(int bucket, Mark mark) {
    return Lease.begins(bucket, 1, mark, false, false, false, Duration.ofSeconds(1));
  }

  private static Row row(int bucket, long sequence) {
    return new ToMove(bucket, sequence, "k", Status.PENDING, sequence, Status.SCHEDULED);
  }
}
