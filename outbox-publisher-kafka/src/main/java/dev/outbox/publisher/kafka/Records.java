package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.StoredMessage;
import java.net.URI;
import java.util.function.Function;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** From a message to Kafka's record; see {@link KafkaPublisher} for what is where (P4). */
final class Records {
  private final Function<StoredMessage, String> topic;
  private final @Nullable URI cloudEventsSource;

  Records(Function<StoredMessage, String> topic, @Nullable URI cloudEventsSource) {
    this.topic = topic;
    this.cloudEventsSource = cloudEventsSource;
  }

  /**
   * The record. It has no timestamp of its own: after a long outage brokers may refuse old ones.
   *
   * @throws IllegalArgumentException when the resolver gives no topic
   */
  ProducerRecord<byte[], byte[]> of(StoredMessage stored) {
    String to = topicOf(stored);
    OutboxMessage message = stored.message();
    byte[] key = stored.key().getBytes(UTF_8);
    ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(to, key, message.payload());
    Headers headers = record.headers();
    for (Header header : message.headers()) {
      add(headers, header.name(), header.value());
    }
    if (cloudEventsSource != null) {
      addCloudEvent(headers, stored, cloudEventsSource);
    }
    add(headers, "outbox-id", message.id().toString());
    add(headers, "outbox-aggregate-type", message.aggregateType());
    add(headers, "outbox-aggregate-id", message.aggregateId());
    add(headers, "outbox-event-type", message.eventType());
    add(headers, "content-type", message.contentType());
    add(headers, "outbox-created-at", stored.createdAt().toString());
    add(headers, "outbox-sequence", Long.toString(stored.sequence()));
    add(headers, "outbox-dedup-key", message.dedupKey());
    add(headers, "outbox-correlation-id", message.correlationId());
    return record;
  }

  private String topicOf(StoredMessage stored) {
    String to;
    try {
      to = topic.apply(stored);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("the topic of " + stored + " threw " + e, e);
    }
    if (to == null || to.isEmpty()) {
      throw new IllegalArgumentException("the topic of " + stored + " is missing or empty");
    }
    return to;
  }

  private static void addCloudEvent(Headers headers, StoredMessage stored, URI source) {
    OutboxMessage message = stored.message();
    add(headers, "ce_specversion", "1.0");
    add(headers, "ce_id", message.id().toString());
    add(headers, "ce_source", source.toString());
    add(headers, "ce_type", message.eventType());
    add(headers, "ce_subject", message.aggregateId());
    add(headers, "ce_time", stored.createdAt().toString());
    add(headers, "ce_partitionkey", stored.key());
  }

  private static void add(Headers headers, String name, @Nullable String value) {
    if (value != null) {
      headers.add(name, value.getBytes(UTF_8));
    }
  }
}
