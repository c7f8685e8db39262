package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RoutedTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final AtomicLong clock = new AtomicLong();
  private final FakePublisher publisher = new FakePublisher();
  private final Routed routed = new Routed("http", publisher, clock::get);
  private final ExecutorService executor = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  /** A call that takes so long. */
  private void call(Result result, long nanos) throws InterruptedException {
    publisher.whole = () -> result;
    Publication call =
        new Publication(
            publisher,
            List.of(Samples.stored(1, "k")),
            Duration.ofMinutes(1),
            executor,
            System::nanoTime);
    long ignored = call.start();
    assertThat(call.await(Duration.ofMinutes(1).toNanos())).isTrue();
    long since = clock.get();
    clock.addAndGet(nanos);
    routed.ended(call, since);
  }

  @Test
  @DisplayName("after a call in vain there is a pause of four times its length, up to 30 s")
  void pauses() throws Exception {
    assertThat(routed.refusal(true)).isNull();
    call(Result.unavailable("away"), SECOND);
    assertThat(routed.answers()).isFalse();
    clock.addAndGet(4 * SECOND - 1);
    assertThat(routed.refusal(true)).isEqualTo("away");
    clock.addAndGet(1);
    assertThat(routed.refusal(true)).isNull();
    call(Result.unavailable("away still"), 20 * SECOND);
    clock.addAndGet(30 * SECOND - 1);
    assertThat(routed.refusal(true)).isEqualTo("away still");
    clock.addAndGet(1);
    assertThat(routed.refusal(true)).isNull();
  }

  @Test
  @DisplayName("one call at a time tries, and all go on when it was answered")
  void oneTries() throws Exception {
    assertThat(routed.refusal(true)).isNull();
    call(Result.unavailable("away"), 0);
    assertThat(routed.refusal(true)).isNull();
    assertThat(routed.refusal(true)).isEqualTo("away");
    call(Result.failed("500"), 0);
    assertThat(routed.answers()).isTrue();
    assertThat(routed.refusal(true)).isNull();
    assertThat(routed.refusal(true)).isNull();
  }

  @Test
  @DisplayName("where no other broker answers, it is the relay that pauses")
  void alone() throws Exception {
    assertThat(routed.refusal(false)).isNull();
    call(Result.unavailable("away"), SECOND);
    assertThat(routed.refusal(false)).isNull();
    assertThat(routed.refusal(false)).isNull();
  }
}
