package dev.outbox.tck.internal;

import dev.outbox.spi.store.KeepingStore.Keeper;
import java.util.concurrent.locks.LockSupport;

/** Holds, as a relay does: until its keeper is closed or it is interrupted. */
public final class HoldingThread {

  /** The name of each. */
  public static final String NAME = "holding";

  private static final long PAUSE = 10_000_000;

  private HoldingThread() {}

  public static Thread start(Keeper keeper) {
    return start(keeper, () -> {});
  }

  public static Thread start(Keeper keeper, Runnable announced) {
    Thread thread = new Thread(() -> hold(keeper, announced), NAME);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void hold(Keeper keeper, Runnable announced) {
    boolean again = true;
    while (again) {
      try {
        keeper.hold(announced);
        again = false;
      } catch (InterruptedException e) {
        again = false;
      } catch (RuntimeException e) { // its session was ended
        LockSupport.parkNanos(PAUSE);
        again = !Thread.currentThread().isInterrupted();
      }
    }
  }
}
