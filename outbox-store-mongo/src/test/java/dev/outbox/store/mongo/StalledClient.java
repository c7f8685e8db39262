package dev.outbox.store.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.outbox.store.mongo.Faults.Sent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client that stops before it sends a command, as by SIGSTOP: what it has begun stays open. For
 * one operation at a time.
 */
final class StalledClient implements CommandListener, AutoCloseable {
  private static final int PATIENCE_SECONDS = 60;
  private static final Executor THREADS =
      work -> {
        Thread thread = new Thread(work, "client that stops");
        thread.setDaemon(true);
        thread.start();
      };

  final MongoClient client;
  private final Map<String, Integer> counts = new HashMap<>();
  private final List<Sent> sent = new ArrayList<>();
  private @Nullable Sent at;
  private CountDownLatch stopped = new CountDownLatch(1);
  private CountDownLatch goOn = new CountDownLatch(1);

  StalledClient(String url) {
    client =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(url))
                .addCommandListener(this)
                .build());
  }

  /** The commands of an operation that is not stopped. */
  synchronized List<Sent> commands(Runnable operation) {
    counts.clear();
    sent.clear();
    operation.run();
    return List.copyOf(sent);
  }

  /** Returns when the operation has stopped before the command. */
  <R> CompletableFuture<R> stopBefore(Sent command, Supplier<R> operation) {
    counts.clear();
    stopped = new CountDownLatch(1);
    goOn = new CountDownLatch(1);
    at = command;
    CompletableFuture<R> result = CompletableFuture.supplyAsync(operation, THREADS);
    await(stopped, "the client never sent " + command);
    return result;
  }

  /** Lets it go on, and returns what the operation did; it may throw what the operation threw. */
  <R> R wake(CompletableFuture<R> result) {
    goOn.countDown();
    try {
      return result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new AssertionError(e.getCause());
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError("the client that goes on does not come to an end", e);
    }
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    String name = event.getCommandName();
    Sent next = new Sent(name, counts.merge(name, 1, Integer::sum));
    sent.add(next);
    if (next.equals(at)) {
      at = null;
      stopped.countDown();
      await(goOn, "nobody let the client go on");
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

  @Override
  public void close() {
    goOn.countDown();
    client.close();
  }
}
