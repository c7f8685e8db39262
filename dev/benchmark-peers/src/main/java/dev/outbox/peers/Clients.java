package dev.outbox.peers;

import dev.outbox.dev.common.Load;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * They make business transactions with one message each. A key belongs to one client, so that the
 * order of its commits is known.
 */
final class Clients implements AutoCloseable {
  private static final int CLIENTS = 4;
  private static final int KEYS = Peers.MANY_KEYS / CLIENTS;

  private final App app;
  private final Map<String, Long> commits = new ConcurrentHashMap<>();
  private final Load load;
  private long allowed;

  Clients(App app) {
    this.app = app;
    load = new Load("a client", IntStream.range(0, CLIENTS).mapToObj(this::client).toList());
  }

  private Load.Client client(int client) {
    SplittableRandom random = new SplittableRandom(client);
    int[] numbers = new int[KEYS];
    return () -> {
      int key = random.nextInt(KEYS);
      OrderPlaced message = OrderPlaced.of("order-%s-%s".formatted(client, key), numbers[key]++);
      app.place(message);
      commits.put(message.id(), System.nanoTime());
    };
  }

  /**
   * Returns when each message's commit had returned, as {@link System#nanoTime}.
   *
   * @param rate transactions a second, of all clients
   */
  Map<String, Long> run(int rate, Duration time) throws InterruptedException {
    commits.clear();
    allowed += time.toMillis() * rate / 1_000;
    load.allow(allowed, rate);
    load.await();
    return Map.copyOf(commits);
  }

  @Override
  public void close() throws InterruptedException {
    load.close();
  }
}
