package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.common.Ledger;
import dev.outbox.dev.common.Load;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Business transactions with one message each at a fixed rate, its key by chance. */
final class OpenLoad {
  static final String ORDER = "order";
  private static final int KEYS = 10_000;
  private static final int PAYLOAD = 200;

  private OpenLoad() {}

  /** Is told of each message when its commit has returned. */
  interface Listener {
    void committed(OutboxMessage message);
  }

  /** Makes all of it, with 10,000 keys. */
  static void run(List<? extends Business<?>> clients, int rate, Duration time, Ledger<?> ledger)
      throws InterruptedException {
    Listener listener = m -> ledger.committed(m.id(), m.aggregateId(), System.nanoTime());
    try (Load load = begin(clients, 0, clients.size(), KEYS, listener)) {
      load.allow(time.toMillis() * rate / 1_000, rate);
      load.await();
    }
  }

  /**
   * Starts clients.
   *
   * @param first number of the first client here
   * @param all clients of all processes
   */
  static Load begin(
      List<? extends Business<?>> clients, int first, int all, int keys, Listener listener) {
    List<Load.Client> each = new ArrayList<>();
    for (Business<?> client : clients) {
      SplittableRandom random = new SplittableRandom(first + each.size());
      each.add(
          () -> {
            OutboxMessage message = message(random.nextInt(keys));
            client.transaction(Append.OUTBOX, List.of(message));
            listener.committed(message);
          });
    }
    return new Load("a client", each, first, all);
  }

  static OutboxMessage message(int key) {
    return OutboxMessage.builder()
        .aggregate(ORDER, "order-" + key)
        .eventType("OrderPlaced")
        .payload(new byte[PAYLOAD])
        .build();
  }
}
