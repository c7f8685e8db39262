package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** T1. */
abstract class ClockTests<T> extends StoreTests<T> {
  private MovesClock clock;

  @SuppressWarnings("NullAway.Init") // set before each test
  ClockTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @BeforeEach
  void unlock() {
    clock = tck.fixture(MovesClock.class);
  }

  @Test
  @Rule("T1")
  @DisplayName("leases, delays and retries end by the store's clock")
  void storesClock() {
    committed("retried", 1);
    settle(claim(), Decision.retry(LONG, true, "refused"));
    committed(message("delayed").deliverAfter(LONG));
    committed("leased", 1);
    Claim claim = claim();
    assertNothingDue("all is due only after hours");
    clock.moveClock(LONG.plusMinutes(1));
    assertThat(drain()).as("due when the store's clock is past all of them").hasSize(3);
    assertThat(settle(claim, Decision.delivered())).as("what settle says was lost").hasSize(1);
  }

  @Test
  @Rule("T1")
  @DisplayName("a clock that jumps back frees leases that lie too far ahead")
  void jumpsBack() {
    committed("k", 1);
    claim(100, Duration.ofSeconds(10));
    clock.moveClock(Duration.ofDays(-2));
    clock.moveClock(Duration.ofSeconds(30));
    assertThat(drain()).as("due, when the lease lies two days ahead").hasSize(1);
  }
}
