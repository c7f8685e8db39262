package dev.outbox.dev.database;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Somebody who takes all connections of a pool, for a while, and then gives them back. */
public final class Exhaustion {
  private Exhaustion() {}

  /**
   * Begins, on a thread of its own.
   *
   * @param size of the pool
   * @param pool gives a connection, or fails
   */
  static void begin(int size, Callable<? extends AutoCloseable> pool, long millis) {
    long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    Thread thread = new Thread(() -> run(size, pool, until), "exhaust");
    thread.setDaemon(true);
    thread.start();
  }

  private static void run(int size, Callable<? extends AutoCloseable> pool, long until) {
    List<AutoCloseable> taken = new ArrayList<>();
    while (until - System.nanoTime() > 0) {
      try {
        if (taken.size() < size) {
          taken.add(pool.call());
        } else {
          Thread.sleep(10);
        }
      } catch (Exception e) {
        // others have them all, or the database is away: once more
      }
    }
    taken.forEach(Exhaustion::close);
  }

  /** However it ends. */
  public static void close(AutoCloseable connection) {
    try {
      connection.close();
    } catch (Exception e) {
      // as good as closed
    }
  }
}
