package dev.outbox.gallery.publisher;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** What the publishers of this package have in common, and what is right in all of them. */
final class Kafka {
  private final String bootstrapServers;
  private final Function<StoredMessage, String> topic;

  /**
   * @param topic of a message
   */
  Kafka(String bootstrapServers, Function<StoredMessage, String> topic) {
    this.bootstrapServers = bootstrapServers;
    this.topic = topic;
  }

  /**
   * A producer that gives a record up before publish has to return, and not because the machine is
   * busy: a new topic's metadata took more than two seconds once, and a record more than five.
   */
  KafkaProducer<byte[], byte[]> producer() {
    return producer(
        Map.of(
            "max.block.ms", 4_000,
            "linger.ms", 0,
            "request.timeout.ms", 7_000,
            "delivery.timeout.ms", 9_000));
  }

  KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put("bootstrap.servers", bootstrapServers);
    return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
  }

  String topic(StoredMessage message) {
    return topic.apply(message);
  }

  /** Everything that a consumer needs (P4). */
  ProducerRecord<byte[], byte[]> record(StoredMessage stored) {
    OutboxMessage message = stored.message();
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic(stored), message.recordKey().getBytes(UTF_8), message.payload());
    message.headers().forEach(header -> add(record, header.name(), header.value()));
    add(record, "id", message.id().toString());
    add(record, "aggregate-type", message.aggregateType());
    add(record, "aggregate-id", message.aggregateId());
    add(record, "event-type", message.eventType());
    add(record, "content-type", message.contentType());
    add(record, "created-at", stored.createdAt().toString());
    add(record, "sequence", Long.toString(stored.sequence()));
    add(record, "dedup-key", message.dedupKey());
    add(record, "correlation-id", message.correlationId());
    return record;
  }

  private static void add(ProducerRecord<?, ?> record, String name, @Nullable String value) {
    if (value != null) {
      record.headers().add(name, value.getBytes(UTF_8));
    }
  }

  /** What an error of Kafka's client means (P3). */
  Result resultOf(StoredMessage message, Throwable error) {
    if (error instanceof RecordTooLargeException || error instanceof InvalidTopicException) {
      return Result.rejected(error.toString());
    }
    if (error.getCause() instanceof UnknownTopicOrPartitionException) {
      return Result.unavailable(error.toString(), topic(message));
    }
    if (error instanceof RetriableException) {
      return Result.unavailable(error.toString());
    }
    return Result.failed(error.toString());
  }
}
