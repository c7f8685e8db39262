package dev.outbox.dev.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Somebody who takes all connections of a pool, for a while, and then gives them back. */
final class Exhaustion implements Runnable {
  private final int size;
  private final Callable<? extends AutoCloseable> pool;
  private final long until;

  private Exhaustion(int size, Callable<? extends AutoCloseable> pool, long millis) {
    this.size = size;
    this.pool = pool;
    until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
  }

  /**
   * Begins, on a thread of its own.
   *
   * @param size of the pool
   * @param pool gives a connection, or fails
   */
  static void begin(int size, Callable<? extends AutoCloseable> pool, long millis) {
    Thread thread = new Thread(new Exhaustion(size, pool, millis), "exhaust");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void run() {
    List<AutoCloseable> taken = new ArrayList<>();
    try {
      while (until - System.nanoTime() > 0) {
        if (taken.size() < size) {
          take(taken);
        } else {
          Thread.sleep(10);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      taken.forEach(Exhaustion::close);
    }
  }

  private void take(List<AutoCloseable> taken) {
    try {
      taken.add(pool.call());
    } catch (Exception e) {
      // others have them all, or the database is away: once more
    }
  }

  /** However it ends. */
  static void close(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      // as good as closed
    }
  }
}
