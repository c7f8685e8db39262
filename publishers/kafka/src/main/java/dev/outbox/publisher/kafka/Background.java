package dev.outbox.publisher.kafka;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Runs tasks that may take long and heed no time limit, such as looking up a host's name. */
final class Background {
  private Background() {}

  static void run(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** What the task gives, or throws: whatever happens, the future ends. */
  static <T> void run(String name, CompletableFuture<T> future, Supplier<T> task) {
    try {
      run(
          name,
          () -> {
            try {
              future.complete(task.get());
            } catch (Throwable e) {
              future.completeExceptionally(e);
            }
          });
    } catch (Throwable e) { // no memory for a thread
      future.completeExceptionally(e);
    }
  }
}
