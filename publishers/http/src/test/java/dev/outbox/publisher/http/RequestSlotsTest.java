package dev.outbox.publisher.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** For how long a call waits for an origin, so that a sick one costs the others little (P3). */
class RequestSlotsTest {
  private final AtomicLong now = new AtomicLong();
  private final Timing timing = Timing.of(Duration.ofSeconds(20), null);
  private final RequestSlots line = new RequestSlots(8, timing, now::get);

  private RequestSlots.Slot send() {
    AtomicReference<RequestSlots.Slot> taken = new AtomicReference<>();
    line.ask(
        slot -> {
          taken.set(slot);
          return true;
        });
    return taken.get();
  }

  private void answer(RequestSlots.Slot slot, long afterMillis) {
    now.addAndGet(Duration.ofMillis(afterMillis).toNanos());
    slot.free(true);
  }

  private Duration patience(boolean alone, boolean endpointIsSilent) {
    return Duration.ofNanos(line.patience(alone, endpointIsSilent));
  }

  @Test
  @DisplayName("one of several that is silent or late is hardly waited for, until it is well")
  void ofSeveral() {
    assertThat(patience(false, false)).as("not known").isEqualTo(timing.patience());
    RequestSlots.Slot slot = send();
    assertThat(slot.leave()).as("whether another was left").isFalse();
    assertThat(patience(false, false)).as("silent").isEqualTo(Timing.IMPATIENCE);
    answer(slot, 6_000);
    assertThat(patience(false, false)).as("late").isEqualTo(Timing.IMPATIENCE);
    answer(send(), 10);
    assertThat(patience(false, false)).as("well again").isEqualTo(timing.patience());
  }

  @Test
  @DisplayName("the only one is waited for as long as it usually takes")
  void alone() {
    answer(send(), 40);
    assertThat(patience(true, false)).isEqualTo(timing.patience());
    assertThat(patience(true, true)).as("an endpoint is silent").isEqualTo(Duration.ofMillis(80));
    assertThat(patience(false, true)).as("of several").isEqualTo(Duration.ofMillis(80));
    answer(send(), 6_000);
    assertThat(patience(true, false)).as("slow").isEqualTo(Duration.ofSeconds(12));
  }
}
