package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A lease")
class LeaseTest {

  @Test
  @DisplayName(
      "goes on with what the database says now, and counts its batches for whose turn it is")
  void goesOn() {
    Lease lease = new Lease(3, 7, "before", false, false, true, Duration.ZERO, 4, 11);
    assertThat(lease.goesOn(Duration.ofSeconds(1), true, true, "after"))
        .isEqualTo(new Lease(3, 7, "after", true, true, true, Duration.ofSeconds(1), 5, 11));
  }
}
