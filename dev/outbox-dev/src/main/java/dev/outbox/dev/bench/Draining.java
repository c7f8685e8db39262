package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * The rate at which messages go through: scenarios, and rounds that fill tables and drain them, or
 * append meanwhile.
 */
record Draining(Bench bench) {
  private static final int MESSAGES = 200_000;
  private static final int MANY_KEYS = 10_000;

  private static final int UNORDERED = 0;
  private static final int[] KEYS = {MANY_KEYS, 10, 1, UNORDERED};
  private static final int[] WORKERS = {1, 4};

  private static final int PINNED_MESSAGES = 500_000;
  private static final int BLOCKED = 100_000;

  private static final int END_TO_END = 100_000;
  private static final int A_TRANSACTION = 50;
  private static final int CLIENTS = 2;

  /** Takes everything at once. */
  static final MessagePublisher NO_OP =
      messages -> Collections.nCopies(messages.size(), Result.delivered());

  /** The same, with an answer to each, which becomes a text only where it is asked for. */
  private static final MessagePublisher ANSWERING =
      messages ->
          messages.stream()
              .map(message -> Result.delivered(() -> "order-3@" + message.sequence()))
              .toList();

  /** Takes nothing. */
  private static final MessagePublisher FAILING =
      messages -> Collections.nCopies(messages.size(), Result.failed("this key always fails"));

  private static final RetryPolicy SOON =
      RetryPolicy.builder()
          .firstDelay(Duration.ofMillis(10))
          .maxDelay(Duration.ofMillis(10))
          .maxAttempts(Integer.MAX_VALUE)
          .build();

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration LOOK = Duration.ofMillis(200);

  void drain() throws Exception {
    Throughput.measure(bench, drains(), Part.WHOLE);
  }

  /** What a message costs in statements and writes; nothing is timed. */
  void work() throws Exception {
    Throughput.count(bench, drains());
  }

  /** Each number of keys by each number of workers. */
  private List<Case> drains() {
    List<Case> cases = new ArrayList<>();
    for (int keys : KEYS) {
      for (int workers : WORKERS) {
        Backlog load = new Backlog(bench.scaled(MESSAGES), keys);
        String name = keys == UNORDERED ? "unordered" : count(keys, "key");
        cases.add(by(workers, name, ours(load, workers), limit(load, workers)));
      }
    }
    return cases;
  }

  private static Case by(int workers, String name, Round ours, Round limit) {
    int connections = BenchDatabase.connections(workers);
    return new Case(name + ", " + count(workers, "worker"), connections, ours, limit);
  }

  static String count(int count, String what) {
    return String.format(Locale.ROOT, "%,d %s%s", count, what, count == 1 ? "" : "s");
  }

  static String perSecond(int rate) {
    return String.format(Locale.ROOT, "%,d/s", rate);
  }

  void archive() throws Exception {
    List<Case> cases = new ArrayList<>();
    Backlog load = new Backlog(bench.scaled(MESSAGES), MANY_KEYS);
    for (Archive archive : List.of(Archive.METADATA, Archive.FULL)) {
      for (int workers : WORKERS) {
        cases.add(
            by(
                workers,
                archive.name().toLowerCase(Locale.ROOT),
                byRelay(load, workers, archive, ANSWERING),
                byRelay(load, workers, Archive.NONE, ANSWERING)));
      }
    }
    Throughput.measure(bench, cases, Part.WHOLE);
  }

  void pinned() throws Exception {
    Backlog load = new Backlog(bench.scaled(PINNED_MESSAGES), MANY_KEYS);
    Backlog blocked = new Backlog(bench.scaled(BLOCKED), 1);
    Throughput.measure(
        bench,
        List.of(
            by(1, "read-only snapshot", pinned(ours(load, 1)), pinned(limit(load, 1))),
            by(
                1,
                "read-only snapshot, 1 blocked key",
                pinned(blockedKey(blocked)),
                pinned(limit(blocked, 1)))),
        Part.WHOLE,
        new Part(", first fifth", 0, 2),
        new Part(", last fifth", 8, 10));
  }

  /** Holds a snapshot from before another round is made ready until it is over. */
  private Round pinned(Round round) {
    Deque<AutoCloseable> held = new ArrayDeque<>();
    return new Round(
        () -> {
          held.push(bench.database.snapshot());
          try {
            round.prepare().run();
          } catch (Exception e) {
            held.pop().close();
            throw e;
          }
        },
        place -> {
          try (AutoCloseable ignored = held.pop()) {
            return round.run().of(place);
          }
        });
  }

  /** A key whose messages are all blocked, and whose head gets through now. */
  private Round blockedKey(Backlog load) {
    return new Round(
        () -> block(load),
        // The head has failed more often than the default policy allows.
        place ->
            Meter.ofRelay(
                place.store(),
                load.messages(),
                NO_OP,
                relay -> relay.workers(1).retryPolicy(SOON)));
  }

  /** Runs a relay until no message is left that was not found out to be blocked. */
  private void block(Backlog load) throws InterruptedException {
    refill(Side.OURS, load);
    try (JdbcPlace place = bench.database.open(BenchDatabase.connections(1));
        Relay relay = Relay.builder(place.store(), FAILING).workers(1).retryPolicy(SOON).build()) {
      long end = System.nanoTime() + PATIENCE.toNanos();
      relay.start();
      while (place.store().statistics(1).pending() > 0) {
        if (System.nanoTime() - end > 0) {
          throw new IllegalStateException("messages are still not blocked after " + PATIENCE);
        }
        Thread.sleep(LOOK.toMillis());
      }
    }
  }

  private Round ours(Backlog load, int workers) {
    return byRelay(load, workers, Archive.NONE, NO_OP);
  }

  private Round byRelay(Backlog load, int workers, Archive archive, MessagePublisher publisher) {
    return new Round(
        () -> refill(Side.OURS, load),
        place ->
            Meter.ofRelay(
                place.store(archive), load.messages(), publisher, relay -> relay.workers(workers)));
  }

  private Round limit(Backlog load, int workers) {
    return new Round(
        () -> refill(Side.LIMIT, load), place -> Meter.ofLimit(place, workers, load.messages()));
  }

  /**
   * The checkpoint comes before the fill: the pages are then in the log already, as those of
   * messages that live for seconds are.
   */
  private void refill(Side side, Backlog load) {
    bench.database.empty(side);
    bench.database.checkpoint();
    bench.database.fill(side, load);
    bench.database.tidy(side);
  }

  /** Appending and relaying to Kafka at once, beside a producer that only sends. */
  void endToEnd() throws Exception {
    long messages = bench.scaled(END_TO_END) / A_TRANSACTION * A_TRANSACTION;
    Throughput.Step renew = () -> bench.database.renew(Side.OURS);
    try (KafkaBroker topic = bench.topic()) {
      Case one =
          new Case(
              "to Kafka",
              CLIENTS + BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS),
              new Round(renew, place -> toKafka(place, topic, messages)),
              new Round(renew, place -> bare(topic, messages)));
      Throughput.measure(bench, List.of(one), Part.WHOLE);
    }
  }

  private static Meter toKafka(JdbcPlace place, KafkaBroker topic, long messages)
      throws InterruptedException {
    List<BenchClient> clients =
        Stream.generate(() -> new BenchClient(place)).limit(CLIENTS).toList();
    try (MessagePublisher publisher = topic.publisher(null);
        Load load = new Load("a client", clients.stream().map(Draining::appending).toList())) {
      Meter pace =
          Meter.ofRelay(
              place.store(),
              messages,
              publisher,
              relay -> {
                load.allow(messages / A_TRANSACTION, Integer.MAX_VALUE);
                return relay;
              });
      load.await();
      return pace;
    } finally {
      clients.forEach(BenchClient::close);
    }
  }

  private static Load.Client appending(BenchClient business) {
    AtomicInteger next = new AtomicInteger();
    return () ->
        business.transaction(
            Side.OURS,
            Stream.generate(() -> BenchClient.message(next.getAndIncrement() % MANY_KEYS))
                .limit(A_TRANSACTION)
                .toList());
  }

  private static Meter bare(KafkaBroker topic, long messages) throws InterruptedException {
    Meter meter = new Meter(messages);
    try (KafkaProducer<byte[], byte[]> producer = topic.producer()) {
      meter.begin();
      for (long i = 0; i < messages; i++) {
        OutboxMessage message = BenchClient.message((int) (i % MANY_KEYS));
        producer.send(
            topic.record(StoredMessage.of(i, 0, Instant.now(), message)),
            (metadata, error) -> meter.done(error == null ? 1 : 0));
      }
      meter.await(() -> "the producer had errors");
      return meter;
    }
  }
}
