package dev.outbox.peers;

import dev.outbox.peers.Contender.App;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Business transactions with one message each: each has its time on the schedule, whatever became
 * of those before it. A key belongs to one client, so that the order of its commits is known.
 */
final class Load {
  private static final int CLIENTS = 4;
  private static final int KEYS = Peers.MANY_KEYS / CLIENTS;

  private final App app;
  private final SplittableRandom[] randoms = new SplittableRandom[CLIENTS];
  private final int[][] numbers = new int[CLIENTS][KEYS];

  Load(App app) {
    this.app = app;
    for (int client = 0; client < CLIENTS; client++) {
      randoms[client] = new SplittableRandom(client);
    }
  }

  /**
   * Returns when each message's commit had returned, as {@link System#nanoTime}.
   *
   * @param rate transactions a second
   */
  Map<String, Long> run(int rate, Duration time) throws InterruptedException {
    Map<String, Long> commits = new ConcurrentHashMap<>();
    long count = time.toMillis() * rate / 1_000;
    long begin = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int c = 0; c < CLIENTS; c++) {
        int client = c;
        tasks.add(
            () -> {
              for (long i = client; i < count; i += CLIENTS) {
                awaitTime(begin + i * 1_000_000_000L / rate);
                OrderPlaced message = next(client);
                app.transaction(
                    transaction -> {
                      transaction.business(message);
                      transaction.append(message);
                    });
                commits.put(message.id(), System.nanoTime());
              }
              return null;
            });
      }
      for (Future<Void> client : threads.invokeAll(tasks)) {
        client.get();
      }
      return commits;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a client failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  private OrderPlaced next(int client) {
    int key = randoms[client].nextInt(KEYS);
    return OrderPlaced.of("order-%d-%d".formatted(client, key), numbers[client][key]++);
  }

  private static void awaitTime(long due) {
    for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
