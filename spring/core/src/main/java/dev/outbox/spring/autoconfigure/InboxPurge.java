package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.spring.OutboxRelay;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Purges the inbox about each minute, as long as the application context runs. */
final class InboxPurge implements SmartLifecycle, DisposableBean {
  private static final Logger log = LoggerFactory.getLogger(InboxPurge.class);
  private static final Duration PAUSE = Duration.ofMinutes(1);

  /** How long {@link #stop} waits for a round. */
  private static final int PATIENCE_SECONDS = 5;

  private final InboxStore<?> inbox;

  /** No bean: the application's scheduled tasks would run in it. */
  private volatile @Nullable ThreadPoolTaskScheduler current;

  InboxPurge(InboxStore<?> inbox) {
    this.inbox = inbox;
  }

  @Override
  public synchronized void start() {
    if (current == null) {
      ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
      scheduler.setThreadNamePrefix("outbox-inbox-housekeeping-");
      scheduler.setDaemon(true);
      scheduler.setAwaitTerminationSeconds(PATIENCE_SECONDS);
      scheduler.setErrorHandler(
          e -> {
            if (isRunning()) { // stop() interrupts it
              log.warn("The inbox was not purged; the next try comes in a minute", e);
            }
          });
      scheduler.initialize();
      current = scheduler;
      scheduler.scheduleWithFixedDelay(inbox::housekeep, PAUSE);
    }
  }

  @Override
  public synchronized void stop() {
    ThreadPoolTaskScheduler scheduler = current;
    if (scheduler != null) {
      current = null;
      scheduler.shutdown();
    }
  }

  /** A context that does not come up stops nothing that it has started. */
  @Override
  public void destroy() {
    stop();
  }

  @Override
  public boolean isRunning() {
    return current != null;
  }

  @Override
  public int getPhase() {
    return OutboxRelay.PHASE;
  }
}
