package dev.outbox.spring.autoconfigure;

import dev.outbox.inbox.InboxHousekeeping;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spring.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** Purges the inbox about each minute, as long as the application context runs. */
final class InboxPurge implements SmartLifecycle {
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
              inbox::housekeep,
              e -> log.warn("The inbox was not purged; the next try comes in a minute", e));
    }
  }

  @Override
  public synchronized void stop() {
    InboxHousekeeping housekeeping = current;
    if (housekeeping != null) {
      current = null;
      housekeeping.close();
    }
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
