package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final Duration FIRST = Duration.ofNanos(100);
  private static final Duration LONGEST = Duration.ofNanos(500);

  @Test
  void doublesUpToTheLongestAndBeginsAnew() {
    Backoff backoff = new Backoff(FIRST, LONGEST, () -> 0);
    assertThat(new long[] {backoff.next(), backoff.next(), backoff.next(), backoff.next()})
        .containsExactly(100, 200, 400, 500);
    assertThat(backoff.next()).isEqualTo(500);
    backoff.reset();
    assertThat(backoff.next()).isEqualTo(100);
  }

  @Test
  void chanceTakesOffAtMostHalf() {
    assertThat(new Backoff(FIRST, LONGEST, () -> 1).next()).isEqualTo(50);
    assertThat(new Backoff(FIRST, LONGEST, () -> 0.5).next()).isEqualTo(75);
  }

  @Test
  void aFirstPauseAboveTheLongestIsCut() {
    assertThat(new Backoff(LONGEST, FIRST, () -> 0).next()).isEqualTo(100);
  }

  @Test
  void neverIsZero() {
    assertThat(new Backoff(Duration.ofNanos(1), FIRST, () -> 1).next()).isEqualTo(1);
  }
}
