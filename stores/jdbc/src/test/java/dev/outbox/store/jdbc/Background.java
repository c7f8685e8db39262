package dev.outbox.store.jdbc;

import java.util.concurrent.Executor;

/** For what has to wait beside a test. */
public final class Background {

  /**
   * A thread for each task. The common pool has a single one on two cores, which {@code
   * CompletableFuture} uses all the same from JDK 25 on, so that a task that waits stops the next.
   */
  public static final Executor THREADS =
      task -> {
        Thread thread = new Thread(task, "background");
        thread.setDaemon(true);
        thread.start();
      };

  private Background() {}
}
