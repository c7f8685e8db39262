package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

  @Test
  void doublesFromTheFirstToTheLongestDelay() {
    RetryPolicy policy = RetryPolicy.builder().random(() -> 0).build();
    assertThat(policy.delay(1)).isEqualTo(Duration.ofMillis(100));
    assertThat(policy.delay(2)).isEqualTo(Duration.ofMillis(200));
    assertThat(policy.delay(9)).isEqualTo(Duration.ofMillis(25_600));
    assertThat(policy.delay(12)).isEqualTo(Duration.ofMillis(204_800));
    assertThat(policy.delay(13)).isEqualTo(Duration.ofMinutes(5));
    assertThat(policy.delay(Integer.MAX_VALUE)).isEqualTo(Duration.ofMinutes(5));
    assertThat(policy.delay(0)).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void chanceOnlyShortens() {
    assertThat(RetryPolicy.builder().random(() -> 1).build().delay(1))
        .isEqualTo(Duration.ofMillis(80));
  }

  @Test
  void defaults() {
    assertThat(RetryPolicy.ofDefaults().maxAttempts()).isEqualTo(10);
    assertThat(RetryPolicy.ofDefaults().delay(1))
        .isBetween(Duration.ofMillis(80), Duration.ofMillis(100));
  }

  @Test
  void refusesWhatMakesNoSense() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RetryPolicy.builder().maxAttempts(0).build())
        .withMessageContaining("maxAttempts is 0, allowed is from 1");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RetryPolicy.builder().firstDelay(Duration.ofNanos(-1)).build())
        .withMessageContaining("firstDelay");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RetryPolicy.builder().maxDelay(Duration.ofMillis(99)).build())
        .withMessageContaining("maxDelay is 99ms, allowed is from 100ms");
  }
}
