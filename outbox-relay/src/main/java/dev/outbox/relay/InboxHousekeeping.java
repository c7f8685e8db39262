package dev.outbox.relay;

import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.store.InboxStore;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Purges an inbox about each minute, in a thread of its own, until it is closed. */
public final class InboxHousekeeping implements AutoCloseable {
  /** Between two rounds. */
  public static final Duration PAUSE = Duration.ofMinutes(1);

  private static final int PATIENCE_SECONDS = 5;

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> BackgroundTasks.daemon("outbox-inbox-housekeeping", task));

  private InboxHousekeeping() {}

  /**
   * Begins at once.
   *
   * @param failures is told in that thread why a round has failed; the next one comes anyway
   */
  public static InboxHousekeeping start(InboxStore<?> inbox, Consumer<RuntimeException> failures) {
    return start(inbox, failures, PAUSE);
  }

  static InboxHousekeeping start(
      InboxStore<?> inbox, Consumer<RuntimeException> failures, Duration pause) {
    InboxHousekeeping started = new InboxHousekeeping();
    SupervisedLoop loop =
        new SupervisedLoop(
            inbox::housekeep,
            e -> {
              if (!started.thread.isShutdown()) { // which interrupts a round
                failures.accept(e);
              }
            });
    var ignored =
        started.thread.scheduleWithFixedDelay(
            loop::again, 0, pause.toMillis(), TimeUnit.MILLISECONDS);
    return started;
  }

  /** Interrupts a round, and waits for its end, five seconds at most. */
  @Override
  public void close() {
    thread.shutdownNow();
    try {
      boolean ignored = thread.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
