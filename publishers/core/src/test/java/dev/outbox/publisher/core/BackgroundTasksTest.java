package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A task in a thread of its own")
class BackgroundTasksTest {

  @Test
  @Timeout(60)
  @DisplayName("is waited for no longer than was said, also when that is not at all")
  void hangs() {
    CountDownLatch never = new CountDownLatch(1);
    for (long most : new long[] {0, 1}) {
      BackgroundTasks.runAndWait(
          "hangs",
          most,
          () -> {
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }
    assertThat(never.getCount()).isOne();
    never.countDown();
  }

  @Test
  @DisplayName("may throw: who waits goes on")
  void fails() {
    AtomicBoolean ran = new AtomicBoolean();
    BackgroundTasks.runAndWait(
        "throws",
        Duration.ofMinutes(1).toMillis(),
        () -> {
          ran.set(true);
          throw new AssertionError("what is closed");
        });
    assertThat(ran).isTrue();
  }
}
