package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a store tells of appends by others. */
class WakeUpsTest {

  /** Tells of appends when the test says so. */
  private static final class Telling extends FaultyStore {
    private volatile Runnable wake;
    private volatile Consumer<OutboxException> failed;
    private volatile boolean closed;

    @Override
    public WakeUps listen(Runnable wake, Consumer<OutboxException> failed) {
      this.wake = wake;
      this.failed = failed;
      return () -> closed = true;
    }
  }

  private final Telling store = new Telling();
  private final FakePublisher publisher = new FakePublisher();

  private Relay.Builder relay() {
    return Relay.builder(store, publisher).workers(1).idlePause(Duration.ofHours(1));
  }

  @Test
  @DisplayName("a wake-up ends the pause between two polls, and closing the relay the listening")
  void wakes() {
    AtomicLong ahead = new AtomicLong();
    LongSupplier clock = () -> System.nanoTime() + ahead.get();
    try (Relay relay = relay().wakeUps(true).clock(clock).build()) {
      ahead.set(Duration.ofDays(100).toNanos()); // nothing happened for long: pauses double
      relay.start();
      await().until(() -> store.claims.get() >= 6);
      int before = store.claims.get();
      await()
          .until(
              () -> {
                store.wake.run();
                return store.claims.get() > before + 20; // by itself it would take hours
              });
    }
    assertThat(store.closed).isTrue();
  }

  @Test
  @DisplayName("a store is not listened to unless asked for")
  void notAsked() {
    try (Relay relay = relay().build()) {
      relay.start();
      await().until(() -> store.claims.get() > 0);
      assertThat(store.wake).isNull();
    }
  }

  @Test
  @DisplayName("what breaks the listening off is told to the listener")
  void tells() {
    Recorder recorder = new Recorder();
    try (Relay relay = relay().wakeUps(true).listener(recorder).build()) {
      relay.start();
      store.failed.accept(new PermanentOutboxException("the stream broke off"));
      assertThat(recorder.all()).anyMatch(event -> event.contains("listen"));
    }
  }

  @Test
  @DisplayName("a store that cannot tell is refused, with what to do")
  void refused() {
    Relay relay = Relay.builder(new FaultyStore(), publisher).wakeUps(true).build();
    assertThatThrownBy(relay::start)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("wakeUps")
        .hasMessageContaining("idlePause");
  }
}
