package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Business transactions with one message each at a fixed rate: each has its time on the schedule,
 * whatever became of those before it.
 */
final class OpenLoad {
  private static final int KEYS = 10_000;
  private static final int PAYLOAD = 200;

  private OpenLoad() {}

  /**
   * Makes the transactions; one thread a client.
   *
   * @return when each message's commit had returned, as {@link Stamps#now}
   */
  static Map<UUID, Long> run(List<Business> clients, int rate, Duration time)
      throws InterruptedException {
    Map<UUID, Long> commits = new ConcurrentHashMap<>();
    long count = time.toMillis() * rate / 1_000;
    long begin = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(clients.size());
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int c = 0; c < clients.size(); c++) {
        int client = c;
        tasks.add(
            () -> {
              SplittableRandom random = new SplittableRandom(client);
              for (long i = client; i < count; i += clients.size()) {
                awaitTime(begin + i * 1_000_000_000L / rate);
                OutboxMessage message = message(random.nextInt(KEYS));
                clients.get(client).transaction(Append.OUTBOX, List.of(message));
                commits.put(message.id(), Stamps.now());
              }
              return null;
            });
      }
      for (Future<Void> future : threads.invokeAll(tasks)) {
        future.get();
      }
      return commits;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a client failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  static OutboxMessage message(int key) {
    return OutboxMessage.builder()
        .aggregate("order", "order-" + key)
        .eventType("OrderPlaced")
        .payload(new byte[PAYLOAD])
        .build();
  }

  private static void awaitTime(long due) {
    for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
