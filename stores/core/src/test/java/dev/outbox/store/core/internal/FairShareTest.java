package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A fair share")
class FairShareTest {
  private final FairShare share = new FairShare("me");

  private void free(int buckets) {
    for (int i = 0; i < buckets; i++) {
      share.free();
    }
  }

  private void leased(int buckets, String by) {
    for (int i = 0; i < buckets; i++) {
      share.leased(by);
    }
  }

  @Test
  @DisplayName("is all that is busy, for a worker that is alone, up to the most")
  void alone() {
    free(10);
    assertThat(share.of(16)).isEqualTo(10);
    assertThat(share.of(4)).isEqualTo(4);
  }

  @Test
  @DisplayName("is an equal part of the busy buckets, rounded up, whoever holds how many now")
  void amongOthers() {
    free(4);
    leased(5, "other");
    leased(1, "third");
    assertThat(share.of(16)).as("of 10 buckets among 3 workers").isEqualTo(4);
  }

  @Test
  @DisplayName("is less by what its own worker holds already")
  void ownCount() {
    free(6);
    leased(3, "me");
    leased(1, "other");
    assertThat(share.of(16)).as("of 10 buckets among 2 workers, one of which has 3").isEqualTo(2);
  }

  @Test
  @DisplayName("is at least one bucket, or some would never get any")
  void atLeastOne() {
    leased(5, "me");
    leased(1, "other");
    free(1);
    assertThat(share.of(16)).isEqualTo(1);
    assertThat(new FairShare("me").of(16)).as("where nothing is busy").isEqualTo(1);
  }
}
