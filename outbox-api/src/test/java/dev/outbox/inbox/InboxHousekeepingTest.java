package dev.outbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The housekeeping")
class InboxHousekeepingTest {
  private static final Duration NONE = Duration.ofMillis(1);

  @Test
  @DisplayName("begins at once, goes on after failures, and tells each, also who fails to listen")
  void goesOn() throws InterruptedException {
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    CountDownLatch rounds = new CountDownLatch(3);
    try (InboxHousekeeping ignored =
        InboxHousekeeping.start(
            () -> {
              rounds.countDown();
              throw new IllegalStateException("round");
            },
            e -> {
              told.add(e.getMessage());
              throw new IllegalArgumentException("listener");
            },
            NONE)) {
      assertThat(rounds.await(1, TimeUnit.MINUTES)).isTrue();
    }
    assertThat(told).hasSizeGreaterThanOrEqualTo(2).containsOnly("round");
  }

  @Test
  @DisplayName("waits between two rounds, and not when it is closed")
  void waits() throws InterruptedException {
    CountDownLatch first = new CountDownLatch(1);
    BlockingQueue<Boolean> rounds = new LinkedBlockingQueue<>();
    InboxHousekeeping housekeeping =
        InboxHousekeeping.start(
            () -> {
              rounds.add(true);
              first.countDown();
            },
            e -> {});
    assertThat(first.await(1, TimeUnit.MINUTES)).isTrue();
    housekeeping.close();
    assertThat(rounds).hasSize(1);
  }

  @Test
  @DisplayName("ends at once when it is closed, also after a round that has lost the interrupt")
  void lostInterrupt() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    InboxHousekeeping housekeeping =
        InboxHousekeeping.start(
            () -> {
              thread.set(Thread.currentThread());
              inside.countDown();
              try {
                Thread.sleep(Duration.ofHours(1).toMillis());
              } catch (InterruptedException e) {
                // and does not say so
              }
            },
            e -> {});
    assertThat(inside.await(1, TimeUnit.MINUTES)).isTrue();
    housekeeping.close();
    assertThat(thread.get().isAlive()).isFalse();
  }

  @Test
  @DisplayName("interrupts a round when it is closed, and does not call that a failure")
  void interrupts() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    AtomicBoolean interrupted = new AtomicBoolean();
    BlockingQueue<RuntimeException> told = new LinkedBlockingQueue<>();
    InboxHousekeeping housekeeping =
        InboxHousekeeping.start(
            () -> {
              inside.countDown();
              try {
                Thread.sleep(Duration.ofHours(1).toMillis());
              } catch (InterruptedException e) {
                interrupted.set(true);
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
              }
            },
            told::add);
    assertThat(inside.await(1, TimeUnit.MINUTES)).isTrue();
    housekeeping.close();
    assertThat(interrupted).isTrue();
    assertThat(told).isEmpty();
  }
}
