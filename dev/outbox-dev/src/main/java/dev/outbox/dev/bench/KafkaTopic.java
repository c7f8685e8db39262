package dev.outbox.dev.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A topic that only the benchmarks use, and what sends to it. */
final class KafkaTopic implements AutoCloseable {
  private static final int PARTITIONS = 6;

  private final String bootstrap;
  private final String name = "outbox-bench-" + UUID.randomUUID().toString().substring(0, 8);
  private final Admin admin;
  private boolean hasQuota;

  KafkaTopic(String bootstrap) throws InterruptedException {
    this.bootstrap = bootstrap;
    admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    NewTopic topic = new NewTopic(name, Optional.of(PARTITIONS), Optional.empty());
    done("create topic " + name, admin.createTopics(List.of(topic)).all());
  }

  String bootstrap() {
    return bootstrap;
  }

  String name() {
    return name;
  }

  /** Ours, with its defaults. */
  KafkaPublisher publisher() {
    return publisher(bootstrap, name);
  }

  static KafkaPublisher publisher(String bootstrap, String topic) {
    return KafkaPublisher.builder()
        .property(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap)
        .property(ProducerConfig.CLIENT_ID_CONFIG, topic)
        .destination(Destination.pattern(topic))
        .build();
  }

  /** The limit: Kafka's own producer with its defaults, idempotent, with acks=all. */
  KafkaProducer<byte[], byte[]> producer() {
    return new KafkaProducer<>(
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrap,
            ProducerConfig.CLIENT_ID_CONFIG,
            name,
            ProducerConfig.ACKS_CONFIG,
            "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            true),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  /** The record that our publisher makes of a message. */
  ProducerRecord<byte[], byte[]> record(OutboxMessage message, long sequence) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(name, message.recordKey().getBytes(UTF_8), message.payload());
    Attributes.forEach(
        StoredMessage.of(sequence, 0, Instant.now(), message),
        (name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
    return record;
  }

  /**
   * How much the broker takes from this topic's clients; null: as much as it can.
   *
   * @param bytesPerSecond of ours and of the limit's producer alike
   */
  void quota(@Nullable Double bytesPerSecond) throws InterruptedException {
    if (bytesPerSecond == null && !hasQuota) {
      return;
    }
    ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, name));
    ClientQuotaAlteration.Op rate =
        new ClientQuotaAlteration.Op("producer_byte_rate", bytesPerSecond);
    done(
        "set a quota",
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(rate)))).all());
    hasQuota = bytesPerSecond != null;
  }

  private static void done(String what, KafkaFuture<Void> future) throws InterruptedException {
    try {
      future.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "Kafka refused (%s): %s".formatted(what, String.valueOf(e.getCause())), e);
    }
  }

  @Override
  public void close() throws InterruptedException {
    try (admin) {
      quota(null);
      done("delete topic " + name, admin.deleteTopics(List.of(name)).all());
    }
  }
}
