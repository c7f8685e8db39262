package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Messages to publish; needs no broker. */
final class TestMessages {
  private static final AtomicLong sequences = new AtomicLong();

  private TestMessages() {}

  static OutboxMessage.Builder message(String topic, String key) {
    return OutboxMessage.builder()
        .aggregate(topic, key)
        .partitionKey(key)
        .eventType("Happened")
        .payload("{}");
  }

  static StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, message.build());
  }

  /** Records as they are where nothing is chosen, but for who chooses partitions. */
  static Records records(boolean byClient) {
    return new Records(
        Destination.aggregateType(),
        Records::keyOf,
        Records::valueOf,
        null,
        byClient,
        null,
        Records::justSend);
  }

  static String sequence(ProducerRecord<byte[], byte[]> record) {
    return new String(record.headers().lastHeader("outbox-sequence").value(), UTF_8);
  }
}
