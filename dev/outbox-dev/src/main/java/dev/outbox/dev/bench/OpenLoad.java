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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Business transactions with one message each at a fixed rate: each has its time on the schedule,
 * whatever became of those before it.
 *
 * @param keys how many; each message has one of them, by chance
 * @param rate of the whole load, of which other processes may make a part
 * @param first number of the first client here
 * @param all clients of all processes; they take turns
 */
record OpenLoad(int keys, int rate, Duration time, int first, int all) {
  static final String ORDER = "order";

  private static final int KEYS = 10_000;
  private static final int PAYLOAD = 200;

  /** Is told of each message when its commit has returned, at {@link Stamps#now}. */
  interface Listener {
    void committed(OutboxMessage message, long at);
  }

  /**
   * Makes all of it, with 10,000 keys.
   *
   * @return when each message's commit had returned
   */
  static Map<UUID, Long> run(List<Business> clients, int rate, Duration time)
      throws InterruptedException {
    Map<UUID, Long> commits = new ConcurrentHashMap<>();
    new OpenLoad(KEYS, rate, time, 0, clients.size())
        .run(clients, (message, at) -> commits.put(message.id(), at));
    return commits;
  }

  /** Makes the transactions of these clients; one thread a client. */
  void run(List<Business> clients, Listener listener) throws InterruptedException {
    long begin = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(clients.size());
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int c = 0; c < clients.size(); c++) {
        Business client = clients.get(c);
        int number = first + c;
        tasks.add(
            () -> {
              run(client, number, begin, listener);
              return null;
            });
      }
      for (Future<Void> future : threads.invokeAll(tasks)) {
        future.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a client failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
      threads.awaitTermination(1, TimeUnit.MINUTES);
    }
  }

  private void run(Business client, int number, long begin, Listener listener)
      throws InterruptedException {
    SplittableRandom random = new SplittableRandom(number);
    long count = time.toMillis() * rate / 1_000;
    for (long i = number; i < count; i += all) {
      awaitTime(begin + i * 1_000_000_000L / rate);
      OutboxMessage message = message(random.nextInt(keys));
      client.transaction(Append.OUTBOX, List.of(message));
      listener.committed(message, Stamps.now());
    }
  }

  static OutboxMessage message(int key) {
    return OutboxMessage.builder()
        .aggregate(ORDER, "order-" + key)
        .eventType("OrderPlaced")
        .payload(new byte[PAYLOAD])
        .build();
  }

  private static void awaitTime(long due) throws InterruptedException {
    while (!Thread.interrupted()) {
      long left = due - System.nanoTime();
      if (left <= 0) {
        return;
      }
      LockSupport.parkNanos(left);
    }
    throw new InterruptedException();
  }
}
