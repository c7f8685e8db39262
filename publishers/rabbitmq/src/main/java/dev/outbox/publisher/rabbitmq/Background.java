package dev.outbox.publisher.rabbitmq;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Runs tasks that may take long and heed no time limit, such as looking up a host's name. */
final class Background {
  private Background() {}

  static Thread daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** What the task gives, or throws: whatever happens, the future ends. */
  static <T> void run(String name, CompletableFuture<T> future, Callable<T> task) {
    try {
      daemon(
              name,
              () -> {
                try {
                  future.complete(task.call());
                } catch (Throwable e) {
                  future.completeExceptionally(e);
                }
              })
          .start();
    } catch (Throwable e) { // no memory for a thread
      future.completeExceptionally(e);
    }
  }
}
