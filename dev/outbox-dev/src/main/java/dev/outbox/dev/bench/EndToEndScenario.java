package dev.outbox.dev.bench;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Case;
import dev.outbox.dev.bench.Throughput.Part;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.dev.bench.Throughput.Step;
import dev.outbox.dev.broker.KafkaBroker;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;

/** Appending and relaying to Kafka at once, beside a producer that only sends. */
final class EndToEndScenario {
  private static final int MESSAGES = 100_000;
  private static final int A_TRANSACTION = 50;
  private static final int KEYS = 10_000;
  private static final int CLIENTS = 2;

  private EndToEndScenario() {}

  static void run(Bench bench) throws Exception {
    long messages = bench.scaled(MESSAGES) / A_TRANSACTION * A_TRANSACTION;
    Step renew = () -> bench.database.renew(Side.OURS);
    try (KafkaBroker topic = bench.topic()) {
      Case one =
          new Case(
              "to Kafka",
              CLIENTS + BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS),
              new Round(renew, place -> ours(place, topic, messages)),
              new Round(renew, place -> bare(topic, messages)));
      Throughput.measure(bench, List.of(one), List.of(Part.WHOLE));
    }
  }

  private static Meter ours(JdbcPlace place, KafkaBroker topic, long messages) throws Exception {
    List<BenchClient> clients =
        IntStream.range(0, CLIENTS).mapToObj(i -> new BenchClient(place)).toList();
    try (MessagePublisher publisher = topic.publisher(null);
        Load load = new Load("a client", clients.stream().map(EndToEndScenario::client).toList())) {
      Meter pace =
          Drain.relay(
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

  private static Load.Client client(BenchClient business) {
    AtomicInteger next = new AtomicInteger();
    return () ->
        business.transaction(
            Side.OURS,
            IntStream.range(0, A_TRANSACTION)
                .mapToObj(i -> BenchClient.message(next.getAndIncrement() % KEYS))
                .toList());
  }

  private static Meter bare(KafkaBroker topic, long messages) throws Exception {
    Meter meter = new Meter(messages);
    try (KafkaProducer<byte[], byte[]> producer = topic.producer()) {
      meter.begin();
      for (long i = 0; i < messages; i++) {
        OutboxMessage message = BenchClient.message((int) (i % KEYS));
        producer.send(
            topic.record(StoredMessage.of(i, 0, Instant.now(), message)),
            (metadata, error) -> meter.done(error == null ? 1 : 0));
      }
      meter.await(() -> "the producer had errors");
      return meter;
    }
  }
}
