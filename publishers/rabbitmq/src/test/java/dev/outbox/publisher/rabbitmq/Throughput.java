package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Prints how fast the publisher is beside RabbitMQ's client with the same guarantee: one
 * unconfirmed message of each key, and confirms of all. Both publish the same messages to the same
 * queue, from two threads, in turn; the publisher gets them in the batches of a relay. Not a test:
 * run its main method with the module's test class path.
 */
final class Throughput {
  private static final int THREADS = 2;
  private static final int BATCH = 1_000;
  private static final int ROUNDS = 9;
  private static final Destination ROUTING_KEY = Destination.pattern(RabbitPublisher.ROUTING_KEY);

  private Throughput() {}

  public static void main(String[] args) throws Exception {
    int keys = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
    int messages = args.length > 1 ? Integer.parseInt(args[1]) : 20_000;
    String exchange = TestRabbit.exchange();
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(TestRabbit.uri());
    factory.setAutomaticRecoveryEnabled(false);
    double[] ratios = new double[ROUNDS];
    try (RabbitPublisher publisher = TestRabbit.publisher().build();
        Connection connection = factory.newConnection("limit")) {
      for (int round = -1; round < ROUNDS; round++) {
        List<List<StoredMessage>> work = work(exchange, keys, messages);
        double[] rates = new double[2];
        for (int i = 0; i < 2; i++) {
          int which = (round + 1 + i) % 2; // each is first in turn
          rates[which] =
              rate(
                  work,
                  part -> which == 0 ? ours(publisher, part) : limit(connection, part),
                  exchange);
        }
        double ours = rates[0];
        double limit = rates[1];
        System.out.printf("ours %.0f/s, client %.0f/s: %.2f%n", ours, limit, ours / limit);
        if (round >= 0) { // the first one warms up
          ratios[round] = ours / limit;
        }
      }
    }
    Arrays.sort(ratios);
    System.out.printf(
        "%d keys, %d messages: median %.2f of the client, from %.2f to %.2f%n",
        keys, messages, ratios[ROUNDS / 2], ratios[0], ratios[ROUNDS - 1]);
    System.exit(0);
  }

  /** For each thread its own keys, in turn. */
  private static List<List<StoredMessage>> work(String exchange, int keys, int messages) {
    return IntStream.range(0, THREADS)
        .mapToObj(
            thread ->
                IntStream.range(0, messages / THREADS)
                    .mapToObj(i -> thread + "-" + i % (keys / THREADS))
                    .map(
                        key ->
                            TestMessages.stored(
                                TestMessages.message(exchange, "Happened", key)
                                    .payload("x".repeat(200))))
                    .toList())
        .toList();
  }

  private static double rate(
      List<List<StoredMessage>> work,
      Function<List<StoredMessage>, Callable<Boolean>> way,
      String queue)
      throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    long start = System.nanoTime();
    for (Future<Boolean> done : threads.invokeAll(work.stream().map(way).toList())) {
      var unused = done.get();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    threads.shutdown();
    int all = work.stream().mapToInt(List::size).sum();
    int arrived = TestRabbit.with(channel -> channel.queuePurge(queue).getMessageCount());
    if (arrived != all) {
      throw new IllegalStateException("%d of %d arrived".formatted(arrived, all));
    }
    return all / seconds;
  }

  private static Callable<Boolean> ours(RabbitPublisher publisher, List<StoredMessage> messages) {
    return () -> {
      for (int from = 0; from < messages.size(); from += BATCH) {
        List<StoredMessage> batch = messages.subList(from, Math.min(from + BATCH, messages.size()));
        if (publisher.publish(batch).stream().anyMatch(r -> !r.equals(Result.delivered()))) {
          throw new IllegalStateException("not all were delivered");
        }
      }
      return true;
    };
  }

  /** What somebody writes who wants nothing but this. */
  private static Callable<Boolean> limit(Connection connection, List<StoredMessage> messages) {
    return () -> {
      Mapping mapping =
          new Mapping(Destination.aggregateType(), ROUTING_KEY, m -> m.message().payload());
      BlockingQueue<List<StoredMessage>> confirmed = new LinkedBlockingQueue<>();
      TreeMap<Long, StoredMessage> unconfirmed = new TreeMap<>();
      Channel channel = connection.createChannel();
      channel.confirmSelect();
      channel.addConfirmListener(
          (tag, multiple) -> {
            synchronized (unconfirmed) {
              var ended =
                  multiple ? unconfirmed.headMap(tag, true) : unconfirmed.subMap(tag, tag + 1);
              confirmed.add(new ArrayList<>(ended.values()));
              ended.clear();
            }
          },
          (tag, multiple) -> {
            throw new IllegalStateException("refused");
          });
      Deque<StoredMessage> open = new ArrayDeque<>(messages);
      Set<String> busy = new HashSet<>();
      while (!open.isEmpty() || !busy.isEmpty()) {
        while (!open.isEmpty() && busy.add(open.peek().key())) {
          StoredMessage next = open.poll();
          synchronized (unconfirmed) {
            unconfirmed.put(channel.getNextPublishSeqNo(), next);
          }
          Outgoing out = mapping.of(next);
          channel.basicPublish(
              out.place().exchange(), out.place().routingKey(), true, out.properties(), out.body());
        }
        for (List<StoredMessage> some = confirmed.take(); some != null; some = confirmed.poll()) {
          some.forEach(message -> busy.remove(message.key()));
        }
      }
      channel.close();
      return true;
    };
  }
}
