package dev.outbox.store.mongo;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Stops a client before it sends a command, as by SIGSTOP: its transaction stays open. */
final class Stopping implements CommandListener {
  private volatile @Nullable Stop stop;

  private record Stop(String command, Thread client, CountDownLatch stopped, CountDownLatch goOn) {}

  @Override
  public void commandStarted(CommandStartedEvent event) {
    Stop at = stop;
    if (at != null
        && at.client() == Thread.currentThread()
        && event.getCommandName().equals(at.command())) {
      stop = null;
      at.stopped().countDown();
      try {
        at.goOn().await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Runs work and returns when it has stopped before the command.
   *
   * @return closing it lets the client go on and waits for its end
   */
  AutoCloseable stopAt(String command, Runnable work) throws InterruptedException {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    Thread client = new Thread(() -> quietly(work), "client that is stopped");
    client.setDaemon(true);
    stop = new Stop(command, client, stopped, goOn);
    client.start();
    if (!stopped.await(1, TimeUnit.MINUTES)) {
      throw new AssertionError("the client never sent " + command);
    }
    return () -> {
      goOn.countDown();
      client.join();
    };
  }

  /** What a client says that wakes up late is not asked here. */
  private static void quietly(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      System.err.println("The client that was stopped: " + e.getMessage());
    }
  }
}
