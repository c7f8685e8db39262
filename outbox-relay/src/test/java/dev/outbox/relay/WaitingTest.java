package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WaitingTest {
  private static final Duration FOREVER = Duration.ofHours(1);

  private final Waiting waiting = new Waiting(Duration.ofSeconds(8));
  private final Backoff forever = new Backoff(FOREVER, FOREVER, () -> 0);

  private interface Wait {
    void run() throws InterruptedException;
  }

  private static CompletableFuture<Void> inBackground(Wait wait) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                wait.run();
                done.complete(null);
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING || done.isDone());
    return done;
  }

  @Test
  void anAppendEndsAnIdleWaitAndMakesTheNextOnesShort() throws Exception {
    CompletableFuture<Void> idle = inBackground(() -> waiting.idle(forever));
    assertThat(idle).isNotDone();
    waiting.appended();
    idle.get(1, TimeUnit.MINUTES);
    waiting.appended();
    waiting.idle(forever); // returns, though the back-off says an hour
  }

  @Test
  void afterAnAppendPausesBeginSmallAgain() throws Exception {
    Backoff pauses = new Backoff(Duration.ofNanos(1), FOREVER, () -> 0);
    for (int i = 0; i < 20; i++) {
      long ignored = pauses.next();
    }
    waiting.appended();
    waiting.idle(pauses);
    assertThat(pauses.next()).isLessThanOrEqualTo(2);
  }

  @Test
  void stopEndsEveryWait() throws Exception {
    CompletableFuture<Void> idle = inBackground(() -> waiting.idle(forever));
    CompletableFuture<Void> pause = inBackground(() -> waiting.pause(FOREVER.toNanos()));
    assertThat(waiting.stopping()).isFalse();
    waiting.stop();
    idle.get(1, TimeUnit.MINUTES);
    pause.get(1, TimeUnit.MINUTES);
    assertThat(waiting.stopping()).isTrue();
    waiting.idle(forever);
    waiting.pause(FOREVER.toNanos());
  }

  @Test
  void anAppendDoesNotEndAPause() throws Exception {
    CompletableFuture<Void> pause = inBackground(() -> waiting.pause(FOREVER.toNanos()));
    CompletableFuture<Void> idle = inBackground(() -> waiting.idle(forever));
    waiting.appended();
    idle.get(1, TimeUnit.MINUTES);
    assertThat(pause).isNotDone();
    waiting.stop();
    pause.get(1, TimeUnit.MINUTES);
  }

  @Test
  void keepsPartOfTheTimeToStopForSettling() {
    waiting.stop();
    long left = waiting.leftToStop();
    assertThat(left).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(8).toNanos());
    assertThat(waiting.leftToPublish()).isLessThanOrEqualTo(left - Duration.ofSeconds(2).toNanos());
    waiting.stop();
    assertThat(waiting.leftToStop()).as("the first stop counts").isLessThanOrEqualTo(left);
  }
}
