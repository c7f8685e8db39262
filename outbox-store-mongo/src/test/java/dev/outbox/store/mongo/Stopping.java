package dev.outbox.store.mongo;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.outbox.store.mongo.Faults.Sent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stops a client before it sends a command, as by SIGSTOP: what it has begun stays open. For one
 * operation at a time.
 */
final class Stopping implements CommandListener {
  private static final int PATIENCE_SECONDS = 60;

  private volatile @Nullable Operation<?> operation;

  /** What one thread does. */
  static final class Operation<R> {
    private final @Nullable Sent stopsAt;
    private final Thread client;
    private final FutureTask<R> task;
    private final Map<String, Integer> counts = new HashMap<>();
    private final List<Sent> sent = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    private Operation(@Nullable Sent stopsAt, Supplier<R> work) {
      this.stopsAt = stopsAt;
      task = new FutureTask<>(work::get);
      client = new Thread(task, "client that stops");
      client.setDaemon(true);
    }

    private void sends(String name) {
      Sent next = new Sent(name, counts.merge(name, 1, Integer::sum));
      sent.add(next);
      if (next.equals(stopsAt)) {
        stopped.countDown();
        await(goOn, "nobody let the client go on");
      }
    }

    /** Lets it go on, and returns what it did; it may throw what the operation threw. */
    R wake() {
      goOn.countDown();
      try {
        return task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new AssertionError(e.getCause());
      } catch (TimeoutException | InterruptedException e) {
        throw new AssertionError("the client that goes on does not come to an end", e);
      }
    }
  }

  /** The commands of an operation that is not stopped. */
  List<Sent> commands(Runnable work) {
    Operation<Boolean> whole =
        start(
            null,
            () -> {
              work.run();
              return true;
            });
    boolean unused = whole.wake();
    return List.copyOf(whole.sent);
  }

  /** Returns when the operation has stopped before the command. */
  <R> Operation<R> before(Sent command, Supplier<R> work) {
    Operation<R> stopping = start(command, work);
    await(stopping.stopped, "the client never sent " + command);
    return stopping;
  }

  private <R> Operation<R> start(@Nullable Sent stopsAt, Supplier<R> work) {
    Operation<R> started = new Operation<>(stopsAt, work);
    operation = started;
    started.client.start();
    return started;
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    Operation<?> now = operation;
    if (now != null && now.client == Thread.currentThread()) {
      now.sends(event.getCommandName());
    }
  }

  private static void await(CountDownLatch latch, String otherwise) {
    try {
      if (!latch.await(2 * PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError(otherwise);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(otherwise, e);
    }
  }
}
