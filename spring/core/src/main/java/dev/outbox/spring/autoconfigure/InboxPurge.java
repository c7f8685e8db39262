package dev.outbox.spring.autoconfigure;

import dev.outbox.relay.InboxHousekeeping;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spring.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/** Purges the inbox about each minute, as long as the application context runs. */
final class InboxPurge implements SmartLifecycle, DisposableBean {
  private static final Logger log = LoggerFactory.getLogger(InboxPurge.class);

  private final InboxStore<?> inbox;
  private volatile @Nullable InboxHousekeeping current;

  InboxPurge(InboxStore<?> inbox) {
    this.inbox = inbox;
  }

  @Override
  public synchronized void start() {
    if (current == null) {
      current =
          InboxHousekeeping.start(
              inbox, e -> log.warn("The inbox was not purged; the next try comes in a minute", e));
    }
  }

  @Override
  public synchronized void stop() {
    InboxHousekeeping ending = current;
    if (ending != null) {
      current = null;
      ending.close();
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
