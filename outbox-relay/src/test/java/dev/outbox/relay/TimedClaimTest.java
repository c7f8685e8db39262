package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TimedClaimTest {
  private static final long LENGTH = 90;

  private final AtomicLong clock = new AtomicLong(1_000);
  private boolean refuses;

  /** Of two messages; a renewal takes 5 ns and brings back the first. */
  private final Claim claim =
      new Claim() {
        @Override
        public List<StoredMessage> messages() {
          return List.of(Samples.stored(1, "a"), Samples.stored(2, "b"));
        }

        @Override
        public Set<Long> renew(Duration lease) {
          clock.addAndGet(5);
          if (refuses) {
            throw new TransientOutboxException("no connection");
          }
          return Set.of(1L);
        }

        @Override
        public Set<Long> settle(Map<Long, Decision> decisions) {
          return Set.of();
        }
      };

  private final TimedClaim timed =
      new TimedClaim(claim, Duration.ofNanos(LENGTH), clock.get() - 10, clock::get);

  private void assertLasts(long left, long untilRenewal) {
    assertThat(timed.left()).isEqualTo(left);
    assertThat(timed.untilRenewal()).isEqualTo(untilRenewal);
  }

  @Test
  void lastsFromBeforeTheStoreWasAskedAndIsRenewedAfterAThird() {
    assertLasts(80, 20);
    clock.addAndGet(100);
    assertLasts(-20, -80);
  }

  @Test
  void aRenewalBeginsItAnewAndSaysWhatWasLost() {
    clock.addAndGet(20);
    timed.renew();
    assertLasts(85, 25);
    assertThat(timed.lost()).containsExactly(2L);
  }

  @Test
  void aRenewalThatFailsIsTriedAgainSoon() {
    refuses = true;
    clock.addAndGet(20);
    assertThatThrownBy(timed::renew).isInstanceOf(TransientOutboxException.class);
    assertLasts(55, LENGTH / 3 / 10 - 5);
    assertThat(timed.lost()).isEmpty();
  }
}
