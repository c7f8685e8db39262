package dev.outbox.cli;

import dev.outbox.TransientOutboxException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Work in steps, of which each is a transaction. Where it is cut short, between two steps or in
 * one, it says how far it came.
 */
abstract class Steps {

  /** How long the end of the program waits for the step that is being done. */
  private static final int PATIENCE_SECONDS = 10;

  /** Held during a step. */
  private final ReentrantLock stepping = new ReentrantLock();

  private volatile boolean stopped;
  private volatile boolean over;

  /** Does the next step, if there is one; false when nothing is left after it. */
  abstract boolean next();

  /**
   * Says how far it came.
   *
   * @param inDoubt whether it is unknown if the last step was committed
   */
  abstract void cutShort(boolean inDoubt);

  /** Does all that is left; false when {@link #stop} has ended it. */
  final boolean doAll() {
    boolean more = true;
    while (more) {
      stepping.lock();
      try {
        if (stopped) {
          return false;
        }
        more = next();
        over = !more;
      } catch (RuntimeException e) {
        over = true;
        cutShort(e instanceof TransientOutboxException);
        throw e instanceof IllegalArgumentException
            ? new Failure(String.valueOf(e.getMessage()), e)
            : e;
      } finally {
        stepping.unlock();
      }
    }
    return true;
  }

  /** Ends it behind the step that is being done, and says how far it came; from any thread. */
  final void stop() {
    stopped = true;
    boolean between = false;
    try {
      between = stepping.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!over) {
      over = true;
      cutShort(!between);
    }
    if (between) {
      stepping.unlock();
    }
  }
}
