package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Append;
import dev.outbox.dev.bench.BenchDatabase.Business;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.dev.broker.Client;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Appending and relaying to Kafka at once, beside a producer that only sends. */
final class EndToEndScenario extends Scenario {
  private static final int MESSAGES = 100_000;
  private static final int A_TRANSACTION = 50;
  private static final int KEYS = 10_000;
  private static final int CLIENTS = 2;

  /** So that the producer is what limits; of a record, with its headers, some 450 bytes. */
  private static final double QUOTA = 2e6;

  private static final int MESSAGES_WITH_QUOTA = 60_000;

  EndToEndScenario() {
    super(
        "end-to-end",
        """
        2 clients append, 50 messages of 200 bytes a transaction, as fast as they can, while a relay with defaults \
        publishes to Kafka; from the first append until the last message is settled. Limit: a bare KafkaProducer with \
        its defaults, idempotent, acks=all, that sends the same records. Where the broker takes 2 MB a second (a quota, \
        of both alike) the producer is what limits; otherwise appending is.""");
  }

  @Override
  void run(Bench bench) throws Exception {
    try (KafkaBroker topic = bench.topic()) {
      measure(bench, topic, "the broker takes 2 MB a second", QUOTA, MESSAGES_WITH_QUOTA);
      measure(bench, topic, "as fast as it goes", null, MESSAGES);
    }
  }

  private void measure(
      Bench bench, KafkaBroker topic, String name, @Nullable Double quota, int full)
      throws Exception {
    topic.quota(quota);
    long messages = bench.scaled(full) / A_TRANSACTION * A_TRANSACTION;
    Throughput throughput = new Throughput(bench, this, Part.WHOLE);
    int connections = CLIENTS + BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS);
    throughput.add(
        new Case(
            name,
            connections,
            round(bench, access -> ours(access, topic, messages)),
            round(bench, access -> bare(topic, messages))));
    throughput.measure();
  }

  private interface Run {
    Pace of(Access<?> access) throws Exception;
  }

  private static Round round(Bench bench, Run run) {
    return new Round() {
      @Override
      public void prepare() {
        bench.database().empty(Side.OURS);
        bench.database().tidy(Side.OURS);
        bench.database().checkpoint();
      }

      @Override
      public Pace run(Access<?> access) throws Exception {
        return run.of(access);
      }

      @Override
      public boolean isFilled() {
        return false;
      }
    };
  }

  private static Pace ours(Access<?> access, KafkaBroker topic, long messages) throws Exception {
    List<Business> clients = IntStream.range(0, CLIENTS).mapToObj(i -> access.business()).toList();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<Future<?>> appending = new ArrayList<>();
    try (MessagePublisher publisher = topic.measured()) {
      for (int client = 0; client < CLIENTS; client++) {
        long first = client;
        Business business = clients.get(client);
        appending.add(threads.submit(() -> append(business, first, messages)));
      }
      return Drain.relay(access.store(), messages, publisher, relay -> relay);
    } finally {
      for (Future<?> client : appending) {
        client.get();
      }
      threads.shutdownNow();
      clients.forEach(Business::close);
    }
  }

  private static void append(Business business, long first, long messages) {
    for (long t = first; t < messages / A_TRANSACTION; t += CLIENTS) {
      List<OutboxMessage> some = new ArrayList<>();
      for (int i = 0; i < A_TRANSACTION; i++) {
        some.add(OpenLoad.message((int) ((t * A_TRANSACTION + i) % KEYS)));
      }
      business.transaction(Append.OUTBOX, some);
    }
  }

  private static Pace bare(KafkaBroker topic, long messages) throws Exception {
    Meter meter = new Meter(messages);
    try (Client producer = topic.client()) {
      meter.begin();
      for (long i = 0; i < messages; i++) {
        OutboxMessage message = OpenLoad.message((int) (i % KEYS));
        producer.send(
            StoredMessage.of(i, 0, Instant.now(), message), taken -> meter.done(taken ? 1 : 0));
      }
      meter.await(() -> "the producer had errors");
      return meter.pace();
    }
  }
}
