package dev.outbox.publisher.core;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Runs tasks that may take long and heed no time limit, such as looking up a host's name. */
public final class BackgroundTasks {
  private BackgroundTasks() {}

  /** A thread that does not keep a JVM alive; not started. */
  public static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs a task in a thread of its own. */
  public static void run(String name, Runnable task) {
    daemon(name, task).start();
  }

  /** Gives what the task gives, or throws: whatever happens, the future ends. */
  public static <T> CompletableFuture<T> call(String name, Callable<? extends T> task) {
    CompletableFuture<T> future = new CompletableFuture<>();
    try {
      run(
          name,
          () -> {
            try {
              future.complete(task.call());
            } catch (Throwable e) {
              future.completeExceptionally(e);
            }
          });
    } catch (Throwable e) { // no memory for a thread
      future.completeExceptionally(e);
    }
    return future;
  }
}
