package dev.outbox.store.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A mark")
class MarkTest {
  private static final long NONE = Long.MAX_VALUE;

  @Test
  @DisplayName(
      "follows what was read, once the transaction that settled it and all before are over")
  void follows() {
    Mark read = Mark.stored(0, 0, 0, "").afterRead(5, 9, 100);
    assertThat(read.low()).as("after the first read").isZero();

    Mark settled = read.afterSettle(101, "");
    assertThat(settled).as("after the settle").isEqualTo(new Mark(0, 10, 101, 0, ""));
    assertThat(settled.afterRead(NONE, 0, 101).low()).as("101 may still be open").isZero();
    assertThat(settled.afterRead(NONE, 0, 102)).isEqualTo(new Mark(10, 0, 0, 0, ""));
  }

  @Test
  @DisplayName("stops at the lowest PENDING message that is still there")
  void stops() {
    assertThat(Mark.stored(0, 10, 101, "").afterRead(7, 20, 102))
        .isEqualTo(new Mark(7, 0, 0, 21, ""));
  }

  @Test
  @DisplayName("never goes back")
  void neverBack() {
    assertThat(Mark.stored(8, 6, 101, "").afterRead(NONE, 0, 102).low()).isEqualTo(8);
    assertThat(new Mark(8, 0, 0, 8, "").afterSettle(103, "").candidate()).isZero();
  }

  @Test
  @DisplayName("does not put off a candidate that waits, or none would ever be old enough")
  void waits() {
    Mark waiting = Mark.stored(0, 10, 101, "").afterRead(10, 19, 101);
    assertThat(waiting.afterSettle(105, "")).isEqualTo(new Mark(0, 10, 101, 20, ""));
  }

  @Test
  @DisplayName(
      "puts another in the place of a candidate from a server whose transactions had higher ids")
  void otherServer() {
    Mark restored = Mark.stored(0, 10, 1_000_000, "").afterRead(10, 19, 101);
    assertThat(restored.low()).isZero();
    assertThat(restored.afterSettle(105, "")).isEqualTo(new Mark(0, 20, 105, 0, ""));
  }

  @Test
  @DisplayName("is forgotten in another history, whose sequences may be given again below it")
  void otherHistory() {
    Mark lost = Mark.stored(150, 160, 99, "old primary").afterRead(NONE, 0, 99);
    assertThat(lost.afterSettle(105, "new primary")).isEqualTo(Mark.none("new primary"));
  }

  @Test
  @DisplayName("stays at 0 where a database has no transaction ids")
  void noIds() {
    Mark read = Mark.stored(0, 0, 0, "").afterRead(5, 9, Long.MIN_VALUE);
    assertThat(read.afterSettle(0, "").afterRead(NONE, 0, Long.MIN_VALUE).low()).isZero();
  }

  @Test
  @DisplayName("goes on with its lease, which counts its batches: whose turn it is depends on them")
  void lease() {
    Mark read = Mark.stored(0, 0, 0, "").afterRead(5, 9, 100);
    Lease lease = new Lease(3, 7, read, false, false, true, Duration.ZERO, 4, 11);
    assertThat(lease.goesOn(new Statements.Held(3, Duration.ofSeconds(1), true, true, 101, "")))
        .isEqualTo(
            new Lease(
                3, 7, new Mark(0, 10, 101, 0, ""), true, true, true, Duration.ofSeconds(1), 5, 11));
  }
}
