package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.Database.Limits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The room of a read")
class ReadBudgetTest {
  private final ReadBudget room =
      new ReadBudget(List.of(lease(1, false), lease(2, true)), new Limits(3, 100));

  private static Lease lease(int bucket, boolean single) {
    return new Lease(bucket, 1, Lease.STATELESS, false, false, single, Duration.ZERO, 0, 0);
  }

  @Test
  @DisplayName("ends with the messages of the bucket, and of one that hands out singly after one")
  void messages() {
    assertThat(room.take(1, 0)).isTrue();
    assertThat(room.take(1, 0)).isTrue();
    assertThat(room.take(1, 0)).isTrue();
    assertThat(room.take(1, 0)).as("a fourth of 3").isFalse();
    assertThat(room.take(2, 0)).isTrue();
    assertThat(room.take(2, 0)).as("a second of 1").isFalse();
  }

  @Test
  @DisplayName(
      "ends when the bytes are used up, by the message that uses them up, whatever its size")
  void bytes() {
    assertThat(room.take(1, 99)).isTrue();
    assertThat(room.take(1, 1_000_000)).as("while a byte is left").isTrue();
    assertThat(room.take(1, 0)).as("when none is left").isFalse();
    assertThat(room.take(2, 100)).as("of another bucket").isTrue();
  }

  @Test
  @DisplayName("ends with the last byte")
  void lastByte() {
    assertThat(room.take(1, 100)).isTrue();
    assertThat(room.take(1, 1)).isFalse();
  }
}
