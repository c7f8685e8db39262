package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Buckets")
class ServedLeaseTest {

  private static ServedLease served(int bucket, long at) {
    Lease lease = new Lease(bucket, 1, Lease.STATELESS, false, false, false, Duration.ZERO, 0, 0);
    return new ServedLease(Instant.ofEpochSecond(at), lease);
  }

  @Test
  @DisplayName("come in the order in which they were served last, and of equals by number (C6)")
  void inTurn() {
    assertThat(ServedLease.inTurn(List.of(served(5, 2), served(9, 1), served(3, 2), served(4, 2))))
        .extracting(Lease::bucket)
        .containsExactly(9, 3, 4, 5);
  }

  @Test
  @DisplayName("are tried until there are enough, and no more than are missing at once")
  void upTo() {
    List<List<Integer>> tried = new ArrayList<>();
    List<Integer> taken =
        ServedLease.upTo(
            4,
            IntStream.rangeClosed(1, 9).boxed().toList(),
            some -> {
              tried.add(some);
              return some.stream()
                  .filter(bucket -> bucket % 2 == 0)
                  .toList(); // others have the rest
            });
    assertThat(taken).containsExactly(2, 4, 6, 8);
    assertThat(tried).containsExactly(List.of(1, 2, 3, 4), List.of(5, 6), List.of(7), List.of(8));
  }

  @Test
  @DisplayName("are tried until none is left")
  void noneLeft() {
    assertThat(ServedLease.upTo(4, List.of(1, 2), some -> some)).containsExactly(1, 2);
    assertThat(ServedLease.upTo(4, List.<Integer>of(), some -> some)).isEmpty();
  }
}
