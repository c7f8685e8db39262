package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.store.memory.MemoryInboxStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class InboxHousekeepingTest {
  private final List<RuntimeException> told = new CopyOnWriteArrayList<>();

  @Test
  @DisplayName("an inbox is purged again after an error, which is told")
  void goesOn() {
    Error error = new NoClassDefFoundError("dev/outbox/Gone");
    AtomicInteger rounds = new AtomicInteger();
    MemoryInboxStore inbox =
        new MemoryInboxStore() {
          @Override
          public void housekeep() {
            if (rounds.incrementAndGet() <= 2) {
              throw error;
            }
          }
        };
    try (InboxHousekeeping ignored =
        InboxHousekeeping.start(inbox, told::add, Duration.ofMillis(1))) {
      await().untilAsserted(() -> assertThat(rounds).hasValueGreaterThan(2));
    }
    assertThat(told).extracting(Throwable::getCause).containsExactly(error, error);
  }

  @Test
  @DisplayName("a round that its end interrupts is no failure")
  void interrupted() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    MemoryInboxStore inbox =
        new MemoryInboxStore() {
          @Override
          public void housekeep() {
            begun.countDown();
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              ended.countDown();
              throw new IllegalStateException(e);
            }
          }
        };
    InboxHousekeeping housekeeping = InboxHousekeeping.start(inbox, told::add);
    begun.await();
    housekeeping.close();
    assertThat(ended.getCount()).isZero();
    assertThat(told).isEmpty();
  }
}
