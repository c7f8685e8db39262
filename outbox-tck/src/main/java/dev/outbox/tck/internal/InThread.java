package dev.outbox.tck.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** What a thread of its own does, which keeps no process alive. */
public final class InThread<R> extends CompletableFuture<R> {
  private final Thread thread;

  public InThread(String name, Callable<R> action) {
    thread =
        new Thread(
            () -> {
              try {
                complete(action.call());
              } catch (Throwable e) {
                completeExceptionally(e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  public String name() {
    return thread.getName();
  }

  public void interrupt() {
    thread.interrupt();
  }
}
