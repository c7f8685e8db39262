package dev.outbox.relay;

import java.util.concurrent.CountDownLatch;

/** Keeps whoever tells it of one kind of event waiting, and passes all on to another listener. */
final class SlowListener implements RelayListener {
  private final Class<? extends RelayEvent> kind;
  private final RelayListener next;
  private final CountDownLatch told = new CountDownLatch(1);
  private final CountDownLatch goesOn = new CountDownLatch(1);

  SlowListener(Class<? extends RelayEvent> kind, RelayListener next) {
    this.kind = kind;
    this.next = next;
  }

  @Override
  public void on(RelayEvent event) {
    if (kind.isInstance(event)) {
      told.countDown();
      Waits.await().until(() -> goesOn.getCount() == 0);
    }
    next.on(event);
  }

  /** Waits until somebody is kept waiting. */
  void awaitTold() throws InterruptedException {
    told.await();
  }

  /** From now on it keeps nobody waiting. */
  void goOn() {
    goesOn.countDown();
  }
}
