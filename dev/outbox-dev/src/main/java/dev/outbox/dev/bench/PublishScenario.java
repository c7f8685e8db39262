package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.Measured.Client;
import dev.outbox.dev.bench.Report.Line;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;

/** Publishers beside the clients of their brokers. The database takes no part. */
final class PublishScenario {
  private static final int MESSAGES = 20_000;
  private static final int KEYS = 10_000;
  private static final int PAYLOAD = 200;
  private static final int THREADS = 2;
  private static final int BATCH = 1_000;

  /** Where a key is expected. */
  private static final String REFUSED = "";

  private PublishScenario() {}

  static void run(Bench bench) throws Exception {
    List<Callable<Measured>> all = List.of(Measured::rabbit, Measured::nats, Measured::http);
    for (Callable<Measured> start : all) {
      try (Measured broker = start.call()) {
        new Race(bench, broker).run();
      } catch (UnsupportedOperationException e) {
        bench.say("left out: " + e.getMessage());
      }
    }
  }

  /** Ours and the client's at one broker; each is first in turn. */
  private static final class Race {
    private final Bench bench;
    private final Measured broker;
    private final CpuClock cpu = new CpuClock();
    private final int keys;
    private final int messages;

    private Race(Bench bench, Measured broker) {
      this.bench = bench;
      this.broker = broker;
      cpu.add(broker.pid());
      keys = bench.scaled(KEYS);
      messages = bench.scaled(MESSAGES);
    }

    private void run() throws Exception {
      List<Client> clients = List.of(broker.clients().call(), broker.clients().call());
      for (int run = 0; run <= bench.runs(); run++) {
        bench.say(broker.name(), run);
        for (boolean isOurs : run % 2 == 0 ? List.of(true, false) : List.of(false, true)) {
          Timed timed =
              time(
                  (thread, work) ->
                      isOurs ? publish(broker.publisher(), work) : send(clients.get(thread), work));
          if (run > 0) {
            Line line = bench.line("%s, %s keys".formatted(broker.name(), keys), "messages/s");
            (isOurs ? line.ours() : line.limit()).add(timed.rate(), timed.cpu());
          }
        }
      }
    }

    private Timed time(Way way) throws Exception {
      List<Callable<Void>> work =
          IntStream.range(0, THREADS).mapToObj(thread -> way.of(thread, work(thread))).toList();
      long ignored = broker.arrived().call(); // before this
      bench.settle();
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      CpuClock.Time cpuBefore = cpu.now();
      long begin = System.nanoTime();
      try {
        for (Future<Void> done : threads.invokeAll(work)) {
          done.get();
        }
      } finally {
        threads.shutdownNow();
      }
      double seconds = (System.nanoTime() - begin) / 1e9;
      CpuClock.Time cpuTime = cpu.now().since(cpuBefore);
      int sent = messages / THREADS * THREADS;
      long arrived = broker.arrived().call();
      if (arrived < sent) {
        throw new IllegalStateException("%s of %s messages arrived".formatted(arrived, sent));
      }
      return new Timed(sent / seconds, cpuTime.perMessage(sent));
    }

    /** Each thread has keys of its own, in turn, and new messages each time. */
    private List<StoredMessage> work(int thread) {
      return IntStream.range(0, messages / THREADS)
          .mapToObj(
              i -> {
                OutboxMessage message =
                    OutboxMessage.builder()
                        .aggregate("bench", thread + "-" + i % (keys / THREADS))
                        .eventType("OrderPlaced")
                        .payload(new byte[PAYLOAD])
                        .build();
                return StoredMessage.of(i + 1, 0, Instant.now(), message);
              })
          .toList();
    }
  }

  /** Messages a second, and CPU time of a message. */
  private record Timed(double rate, CpuClock.Time cpu) {}

  private interface Way {
    Callable<Void> of(int thread, List<StoredMessage> work);
  }

  /** As a relay does: what is unavailable is published again. */
  private static Callable<Void> publish(MessagePublisher publisher, List<StoredMessage> work) {
    return () -> {
      for (int from = 0; from < work.size(); from += BATCH) {
        List<StoredMessage> open = work.subList(from, Math.min(from + BATCH, work.size()));
        while (!open.isEmpty()) {
          List<Result> results = publisher.publish(open);
          List<StoredMessage> again = new ArrayList<>();
          for (int i = 0; i < open.size(); i++) {
            if (results.get(i) instanceof Result.Unavailable) {
              again.add(open.get(i));
            } else if (!(results.get(i) instanceof Result.Delivered)) {
              throw new IllegalStateException("not delivered: " + results.get(i));
            }
          }
          open = again;
        }
      }
      return null;
    };
  }

  /** What somebody writes who wants nothing but this. */
  private static Callable<Void> send(Client client, List<StoredMessage> work) {
    return () -> {
      BlockingQueue<String> answered = new LinkedBlockingQueue<>();
      Deque<StoredMessage> open = new ArrayDeque<>(work);
      Set<String> busy = new HashSet<>();
      while (!open.isEmpty() || !busy.isEmpty()) {
        while (!open.isEmpty()
            && busy.size() < client.mostAtOnce()
            && busy.add(open.element().key())) {
          StoredMessage next = open.remove();
          client.sending().send(next, taken -> answered.add(taken ? next.key() : REFUSED));
        }
        for (String key = answered.take(); key != null; key = answered.poll()) {
          if (!busy.remove(key)) {
            throw new IllegalStateException("the broker has refused a message of its client");
          }
        }
      }
      return null;
    };
  }
}
